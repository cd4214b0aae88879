#include "harness/evaluate/implicit_objective.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "algorithms/core/observed.hpp"
#include "base/clones.hpp"
#include "datasets/ratings/rating_facts.hpp"

namespace mf {
namespace {

constexpr std::int64_t kChunk = 1 << 14;  // pairs and rows a partial sum covers
// Parts of the rows of a Gram: few enough that their sums fit the memory, many enough for the
// cores.
constexpr std::int64_t kGramParts = 32;
constexpr std::int64_t kGramRows = 256;  // converted to double at a time

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

MF_CLONES double dot_in_double(const float* a, const float* b, std::int64_t n) {
  constexpr std::int64_t kLanes = 8;
  double lanes[kLanes] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) {
      lanes[l] += static_cast<double>(a[k + l]) * static_cast<double>(b[k + l]);
    }
  }
  double sum = 0;
  for (; k < n; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  for (const double lane : lanes) sum += lane;
  return sum;
}

// The lower triangle of the Gram of rows [begin, end).
void add_gram(const float* rows, std::int64_t begin, std::int64_t end, std::int32_t f,
              std::int64_t stride, View<const double> weights, RowMajor& sum) {
  RowMajor block(kGramRows, f);
  for (std::int64_t first = begin; first < end; first += kGramRows) {
    const std::int64_t count = std::min(kGramRows, end - first);
    for (std::int64_t r = 0; r < count; ++r) {
      std::copy_n(rows + (first + r) * stride, f, block.data() + r * f);
      if (!weights.empty()) block.row(r) *= std::sqrt(weights[first + r]);
    }
    sum.selfadjointView<Eigen::Lower>().rankUpdate(block.topRows(count).transpose());
  }
}

template <class Term>
double sum_in_chunks(std::int64_t count, ThreadTeam& team, const Term& term) {
  std::vector<double> partial((count + kChunk - 1) / kChunk);
  team.for_chunks(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += term(i);
    partial[begin / kChunk] = sum;
  });
  double total = 0;
  for (const double sum : partial) total += sum;
  return total;
}

double regularization(const float* rows, std::int64_t stride, std::int32_t f,
                      View<const double> reg, ThreadTeam& team) {
  return sum_in_chunks(reg.size(), team, [&](std::int64_t r) {
    const float* row = rows + r * stride;
    return reg[r] * dot_in_double(row, row, f);
  });
}

std::vector<double> regs_of(View<const std::int64_t> observed, std::int64_t others,
                            const ImplicitLoss& loss, ThreadTeam& team) {
  std::vector<double> reg(observed.size());
  team.for_chunks(observed.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) reg[row] = loss.row_reg(observed[row], others);
  });
  return reg;
}

}  // namespace

std::vector<double> gram_of(const float* rows, std::int64_t count, std::int32_t f,
                            std::int64_t stride, ThreadTeam& team, View<const double> weights) {
  const std::int64_t part =
      std::max<std::int64_t>(kGramRows, (count + kGramParts - 1) / kGramParts);
  // As many at a time as there are threads; in the order of the parts.
  const std::int64_t wave = part * std::min<std::int64_t>(team.size(), kGramParts);
  std::vector<RowMajor> partial(std::min(wave, count + part - 1) / part, RowMajor(f, f));
  RowMajor total = RowMajor::Zero(f, f);
  for (std::int64_t first = 0; first < count; first += wave) {
    const std::int64_t rest = std::min(wave, count - first);
    team.for_chunks(rest, part, [&](std::int64_t begin, std::int64_t end) {
      RowMajor& sum = partial[begin / part];
      sum.setZero();
      add_gram(rows, first + begin, first + end, f, stride, weights, sum);
    });
    for (std::int64_t p = 0; p * part < rest; ++p) total += partial[p];
  }
  total.triangularView<Eigen::StrictlyUpper>() = total.transpose();
  return {total.data(), total.data() + total.size()};
}

double product_of(View<const double> a, View<const double> b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

ImplicitObjective::ImplicitObjective(const Ratings& train, const ImplicitLoss& loss,
                                     ThreadTeam& team)
    : train_(&train), loss_(loss) {
  const ObservedCounts observed = count_observed(train, team);
  user_reg_ = regs_of(observed.of_user, train.n_items(), loss, team);
  item_reg_ = regs_of(observed.of_item, train.n_users(), loss, team);
  unobserved_ = unobserved_weights(observed.of_item, loss.popularity_exponent);
}

double ImplicitObjective::of_zeros(ThreadTeam& team) const {
  return sum_in_chunks(train_->nnz(), team, [&](std::int64_t i) {
    const Rating rating = (*train_)[i];
    return rating.value > 0 ? unobserved_of(rating.item) + loss_.weight(rating.value) : 0.0;
  });
}

double ImplicitObjective::evaluate(const FactorView& model, ThreadTeam& team) const {
  const std::int32_t f = model.factors;
  const auto users = gram_of(model.p, model.n_users, f, model.p_stride, team);
  const auto items = gram_of(model.q, model.n_items, f, model.q_stride, team, unobserved_);
  const double observed = sum_in_chunks(train_->nnz(), team, [&](std::int64_t i) {
    const Rating rating = (*train_)[i];
    if (!(rating.value > 0)) return 0.0;
    const double s = dot_in_double(model.p + rating.user * model.p_stride,
                                   model.q + rating.item * model.q_stride, f);
    const double c = unobserved_of(rating.item);
    return (c + loss_.weight(rating.value)) * (1 - s) * (1 - s) - c * s * s;
  });
  return product_of(users, items) + observed +
         regularization(model.p, model.p_stride, f, user_reg_, team) +
         regularization(model.q, model.q_stride, f, item_reg_, team);
}

}  // namespace mf
