#include "harness/evaluate/fold_in.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "harness/evaluate/implicit_objective.hpp"

namespace mf {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct System {
  Matrix a;
  Vector b;
};

// The shortest of the solutions if nothing is regularized and the items span too little. `a` has
// only its lower triangle.
Vector solve_system(const System& system) {
  constexpr double kSingular = 1e-14;  // of the pivots' range
  const Eigen::LLT<Matrix> factored(system.a);
  if (factored.info() == Eigen::Success) {
    const Vector pivots = factored.matrixLLT().diagonal().cwiseAbs2();
    if (pivots.minCoeff() > kSingular * pivots.maxCoeff()) return factored.solve(system.b);
  }
  const Matrix whole = system.a.selfadjointView<Eigen::Lower>();
  return Eigen::CompleteOrthogonalDecomposition<Matrix>(whole).solve(system.b);
}

// Column j is the row of the j-th item of a history, with a 1 below if asked for.
Matrix rows_of(const FactorView& model, View<const RowRating> history, bool with_one) {
  Matrix rows(model.factors + (with_one ? 1 : 0), history.size());
  for (std::int64_t j = 0; j < history.size(); ++j) {
    const float* from = model.q + history[j].other * model.q_stride;
    for (std::int32_t k = 0; k < model.factors; ++k) rows(k, j) = static_cast<double>(from[k]);
    if (with_one) rows(model.factors, j) = 1;
  }
  return rows;
}

void check_value(float value) {
  if (value >= 0 && std::isfinite(value)) return;
  fail(ErrorKind::data,
       "a history with the value {}: implicit feedback has values from 0, which say how often or "
       "how "
       "surely something was seen",
       value);
}

System implicit_system(const FactorView& model, const ImplicitLoss& loss, View<const double> gram,
                       View<const RowRating> history) {
  const std::int32_t f = model.factors;
  Vector weight(history.size());
  Vector target(history.size());
  std::int64_t observed = 0;
  for (std::int64_t j = 0; j < history.size(); ++j) {
    const float r = history[j].value;
    check_value(r);
    weight[j] = loss.weight(r);
    target[j] = r > 0 ? 1 + loss.weight(r) : 0;
    observed += r > 0 ? 1 : 0;
  }
  const Matrix rows = rows_of(model, history, false);
  System system{Eigen::Map<const Matrix>(gram.data(), f, f), rows * target};
  const Matrix scaled = rows * weight.cwiseSqrt().asDiagonal();
  system.a.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
  system.a.diagonal().array() += loss.row_reg(observed, model.n_items);
  return system;
}

System ridge_system(const FactorView& model, const FoldInLoss& loss,
                    View<const RowRating> history) {
  const bool biased = model.item_bias != nullptr;
  Vector rest(history.size());
  for (std::int64_t j = 0; j < history.size(); ++j) {
    rest[j] = static_cast<double>(history[j].value);
    if (!biased) continue;
    const float bias = model.item_bias[history[j].other * model.item_bias_stride];
    rest[j] -= model.mean + static_cast<double>(bias);
  }
  const Matrix rows = rows_of(model, history, biased);
  System system{Matrix::Zero(rows.rows(), rows.rows()), rows * rest};
  system.a.selfadjointView<Eigen::Lower>().rankUpdate(rows);
  const auto count = static_cast<double>(history.size());
  system.a.diagonal().array() += loss.reg * std::pow(count, loss.reg_power);
  return system;
}

}  // namespace

FoldInLoss fold_in_loss(const AlgorithmInfo& info, const Params& params) {
  FoldInLoss loss;
  if (info.by_history) {
    loss.by_history = true;
  } else if (info.implicit) {
    loss.implicit = info.implicit(params);
    loss.has_objective = minimizes_objective(info);
  } else if (params.has("reg_p") && params.number("reg_p") >= 0) {
    loss.reg = params.number("reg_p");
  } else if (params.has("reg")) {
    loss.reg = params.number("reg");
  }
  if (params.has("reg_power")) loss.reg_power = params.number("reg_power");
  return loss;
}

Json FoldInLoss::to_json() const {
  if (!implicit) {
    Json json = {{"kind", "ridge"}, {"reg", reg}};
    if (reg_power != 1) json["reg_power"] = reg_power;
    return json;
  }
  Json json = {{"kind", "implicit"},
               {"alpha", implicit->alpha},
               {"reg", implicit->reg},
               {"reg_exponent", implicit->reg_exponent}};
  if (!implicit->others_count) json["others_count"] = false;
  return json;
}

FoldInLoss FoldInLoss::from_json(const Json& json, const std::string& path) {
  constexpr double kMost = 1e30;
  JsonReader reader(json, path);
  FoldInLoss loss;
  if (reader.choice("kind", "ridge", {"ridge", "implicit"}) == "implicit") {
    ImplicitLoss implicit;
    implicit.alpha = reader.number("alpha", 1, 0, kMost);
    implicit.reg = reader.number("reg", 0, 0, kMost);
    implicit.reg_exponent = reader.number("reg_exponent", 0, -kMost, kMost);
    implicit.others_count = reader.boolean("others_count", true);
    loss.implicit = implicit;
  } else {
    loss.reg = reader.number("reg", 0, 0, kMost);
    loss.reg_power = reader.number("reg_power", 1, 0, 2);
  }
  return loss;
}

FoldIn::FoldIn(const FactorView& model, const FoldInLoss& loss, ThreadTeam& team)
    : model_(model), loss_(loss) {
  if (loss.implicit) gram_ = gram_of(model.q, model.n_items, model.factors, model.q_stride, team);
}

FoldIn::Row FoldIn::solve(View<const RowRating> history) const {
  Row row;
  row.factors.assign(model_.factors, 0.0F);
  if (history.empty()) return row;
  const System system = loss_.implicit ? implicit_system(model_, *loss_.implicit, gram_, history)
                                       : ridge_system(model_, loss_, history);
  const Vector x = solve_system(system);
  for (std::int32_t k = 0; k < model_.factors; ++k) row.factors[k] = static_cast<float>(x[k]);
  if (x.size() > model_.factors) row.bias = static_cast<float>(x[model_.factors]);
  return row;
}

AlignedVector<float> FoldIn::solve(const Ratings& histories, View<const std::int32_t> users,
                                   ThreadTeam& team) const {
  AlignedVector<float> rows(users.size() * model_.factors);
  team.for_chunks(users.size(), 8, [&](std::int64_t begin, std::int64_t end) {
    std::vector<RowRating> history;
    for (std::int64_t u = begin; u < end; ++u) {
      history.clear();
      const auto offsets = histories.user_offsets();
      for (auto i = offsets[users[u]]; i < offsets[users[u] + 1]; ++i) {
        history.push_back({histories.items()[i], histories.values()[i]});
      }
      const Row row = solve(View<const RowRating>(history));
      std::copy(row.factors.begin(), row.factors.end(), rows.data() + u * model_.factors);
    }
  });
  return rows;
}

}  // namespace mf
