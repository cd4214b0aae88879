// svdpp and svdpp_cpu: names, parameters, memory, work.
#include <algorithm>
#include <cmath>

#include "algorithms/core/registry.hpp"
#include "algorithms/svdpp/svdpp.hpp"

namespace mf::svdpp {
namespace {

constexpr std::uint64_t kStreamOfY = std::uint64_t{3} << 40;  // users and items have 1 and 2

AlgorithmInfo info_of(bool on_device) {
  AlgorithmInfo info;
  info.name = on_device ? "svdpp" : "svdpp_cpu";
  info.family = "svdpp";
  info.title = "SVD++";
  info.summary = std::string("SGD with biases, a user's row with a sum over the items rated, ") +
                 (on_device ? "a warp a user" : "on one thread");
  info.paper =
      "Y. Koren, \"Factorization Meets the Neighborhood: a Multifaceted Collaborative Filtering "
      "Model\", KDD 2008";
  info.hardware = on_device ? Hardware::cuda : Hardware::cpu;
  info.deterministic = !on_device;
  info.starts_by_rule = true;
  info.params = join_params(
      {factors_param(20, on_device ? kMaxFactorsDevice : 16384),
       only_model_param(ModelKind::biased, "mu + b_u + c_i + q.(p + z), z of the items rated")},
      regularizer_params());
  info.params.push_back(
      ParamSpec::number("reg_y", -1, -1, 1e6, "L2 regularizer of the rows of Y; negative: as reg"));
  if (on_device) {
    info.params.push_back(ParamSpec::integer(
        "workers", 0, 0, 1 << 20,
        "users that are worked on at once, at most; 0: by the lengths of the histories", "users"));
  }
  info.memory = [on_device](const Params&) {
    if (on_device) return MemoryUse{.device = {.rating = 8, .number = 8, .row = 12}};
    return MemoryUse{.host = {.number = 8, .row = 4}};
  };
  return info;
}

const RegisterInfo kCpu(info_of(false)), kDevice(info_of(true));

}  // namespace

Step step_of(const Params& params, double rate, double mean) {
  const double own = params.number("reg_y"), reg_y = own < 0 ? params.number("reg") : own;
  return {step_at(rate, read_regularizers(params), mean), static_cast<float>(rate * reg_y)};
}

Model first_y(const Model& initial) {
  Model y = initial;
  y.n_users = 0;
  if (!y.rule) y.rule.emplace().items.factors = y.factors;
  y.rule->items.stream = kStreamOfY;
  return y;
}

std::int64_t default_workers(const ProblemShape& shape) {
  const auto number = [](std::int64_t x) { return static_cast<double>(x); };
  const double ratings = number(shape.nnz) / std::max(1.0, number(shape.n_users));
  const double most = 170 * number(shape.n_items) / std::max(1.0, ratings * ratings);
  return std::clamp<std::int64_t>(std::llround(most), 1, lock_free_workers(shape));
}

Work epoch_work(std::int32_t factors, std::int64_t nnz, std::int64_t users, std::int64_t items) {
  const double row = 4.0 * factors;
  Work work = pass_work({nnz, users + items}, factors, ModelKind::biased, 8, row + 4);
  work.bytes += 2 * row * static_cast<double>(items);
  work.flops += 8.0 * factors * work.updates;
  return work;
}

}  // namespace mf::svdpp
