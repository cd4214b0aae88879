#include "algorithms/core/sgd_params.hpp"

#include <algorithm>
#include <stdexcept>

namespace mf {
namespace {

ParamSpec regularizer(const std::string& name, const std::string& of) {
  return ParamSpec::number(name, -1, -1, 1e6, "L2 regularizer of " + of + "; negative: as reg");
}

double regularizer_of(const Params& params, const std::string& name) {
  const double own = params.number(name);
  return own < 0 ? params.number("reg") : own;
}

}  // namespace

std::vector<ParamSpec> regularizer_params(double default_reg) {
  return {
      ParamSpec::number("reg", default_reg, 0, 1e6,
                        "L2 regularizer of everything not given its own"),
      regularizer("reg_p", "the rows of P"),
      regularizer("reg_q", "the rows of Q"),
      regularizer("reg_user_bias", "the user biases"),
      regularizer("reg_item_bias", "the item biases"),
  };
}

Regularizers read_regularizers(const Params& params) {
  return {regularizer_of(params, "reg_p"), regularizer_of(params, "reg_q"),
          regularizer_of(params, "reg_user_bias"), regularizer_of(params, "reg_item_bias")};
}

Keeps keeps_at(double rate, const Regularizers& reg) {
  const auto keep = [rate](double of) { return static_cast<float>(1 - rate * of); };
  return {keep(reg.p), keep(reg.q), keep(reg.user_bias), keep(reg.item_bias)};
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

std::int64_t count_rated_items(const Ratings& train) {
  std::vector<bool> seen(train.n_items());
  for (const std::int32_t item : train.items()) seen[item] = true;
  return std::count(seen.begin(), seen.end(), true);
}

std::int64_t count_rating_users(const Ratings& train) {
  const auto offsets = train.user_offsets();
  std::int64_t count = 0;
  for (std::int64_t u = 0; u < train.n_users(); ++u) count += offsets[u] < offsets[u + 1];
  return count;
}

}  // namespace mf
