#include "algorithms/core/sgd/sgd_params.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "algorithms/core/rank_train.hpp"

namespace mf {
namespace {

ParamSpec regularizer(const std::string& name, const std::string& of) {
  return ParamSpec::number(name, -1, -1, 1e6, "L2 regularizer of " + of + "; negative: as reg");
}

double regularizer_of(const Params& params, const std::string& name) {
  if (!params.has(name)) return 0;
  const double own = params.number(name);
  return own < 0 ? params.number("reg") : own;
}

}  // namespace

ParamSpec factors_param(std::int64_t fallback, std::int64_t most) {
  return ParamSpec::integer("factors", fallback, 1, most, "length f of the rows of P and Q");
}

ParamSpec model_param(ModelKind fallback) {
  return ParamSpec::choice("model", fallback, kModelKinds,
                           "biased: mu + b_u + c_i + p.q; plain: p.q");
}

ParamSpec only_model_param(ModelKind kind, std::string help) {
  const std::string name = kModelKinds.of(kind);
  return ParamSpec::choice("model", name, {name}, std::move(help));
}

std::vector<ParamSpec> regularizer_params(double default_reg, bool of_biases) {
  std::vector<ParamSpec> params = {
      ParamSpec::number("reg", default_reg, 0, 1e6,
                        "L2 regularizer of everything not given its own"),
      regularizer("reg_p", "the rows of P"), regularizer("reg_q", "the rows of Q")};
  if (!of_biases) return params;
  return join_params(std::move(params), {regularizer("reg_user_bias", "the user biases"),
                                         regularizer("reg_item_bias", "the item biases")});
}

Regularizers read_regularizers(const Params& params) {
  return {regularizer_of(params, "reg_p"), regularizer_of(params, "reg_q"),
          regularizer_of(params, "reg_user_bias"), regularizer_of(params, "reg_item_bias")};
}

RatedShape rated_shape(const Ratings& train, const Context& context) {
  const std::int64_t nnz = all_ratings(train, context);
  if (context.rated_rows) return {nnz, *context.rated_rows};
  return {nnz,
          count_filled(train.user_offsets()) + count_different(train.items(), train.n_items())};
}

Work pass_work(const RatedShape& shape, std::int32_t factors, ModelKind kind, double rating_bytes,
               double row_bytes) {
  const auto nnz = static_cast<double>(shape.nnz);
  const auto rows = static_cast<double>(shape.rows);
  Work work;
  work.updates = nnz;
  work.bytes = nnz * rating_bytes + 2 * rows * row_bytes;
  work.flops = nnz * (10.0 * factors + (kind == ModelKind::biased ? 13.0 : 2.0));
  return work;
}

void check_initial(ModelKind kind, std::int32_t factors, const Ratings& train,
                   const Model& initial) {
  if (initial.kind != kind || initial.factors != factors || initial.n_users != train.n_users() ||
      initial.n_items != train.n_items()) {
    throw std::logic_error("the initial factors do not fit the parameters or the ratings");
  }
}

std::int64_t lock_free_workers(const ProblemShape& shape) {
  const auto rows =
      static_cast<double>(std::max<std::int64_t>(1, std::min(shape.n_users, shape.n_items)));
  const double share = std::clamp(static_cast<double>(shape.nnz) / rows / 15000.0, 1.0 / 32, 1.0);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(rows * share));
}

std::int64_t count_filled(View<const std::int64_t> offsets) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row + 1 < offsets.size(); ++row) {
    count += offsets[row] < offsets[row + 1];
  }
  return count;
}

std::int64_t count_different(View<const std::int32_t> items, std::int32_t n_items) {
  std::vector<bool> seen(n_items);
  for (const std::int32_t item : items) seen[item] = true;
  return std::count(seen.begin(), seen.end(), true);
}

}  // namespace mf
