#include "algorithms/ccd/settings.hpp"

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::ccd {

std::vector<ParamSpec> common_params() {
  return {
      ParamSpec::integer("factors", 40, 1, kMaxFactors, "length f of the rows of P and Q"),
      ParamSpec::number("reg", 0.05, 0, 1e6, "lambda"),
      ParamSpec::choice("reg_scale", RegScale::plain, kRegScales,
                        "a row is shrunk by lambda (the paper's), or by lambda for each of its "
                        "ratings, as in ALS"),
      ParamSpec::integer("inner_iterations", 1, 1, 100,
                         "times u and v are solved in turn for each factor, T", "iterations"),
      ParamSpec::choice("residual", Residual::fused, kResiduals,
                        "a factor's product is added and subtracted in passes of its own, as the "
                        "paper says, or in the pass that sums"),
      ParamSpec::choice("start", Start::model, kStarts,
                        "from the harness's P and Q, or with P = 0 as the paper")};
}

Settings read_settings(const Params& params) {
  const auto factors = static_cast<std::int32_t>(params.integer("factors"));
  return {
      factors,
      params.number("reg"),
      params.choice("reg_scale", kRegScales),
      {static_cast<int>(params.integer("inner_iterations")), params.choice("residual", kResiduals)},
      params.choice("start", kStarts)};
}

Work epoch_work(const Settings& settings, std::int64_t count, std::int64_t rated_rows) {
  const auto nnz = static_cast<double>(count);
  const double f = settings.factors;
  const double more = settings.sweep.inner - 1;
  const auto rows = static_cast<double>(rated_rows);
  Work work;
  work.updates = 2 * nnz;
  work.bytes = f * (nnz * (20 + 12 * more) + rows * 8 * (1 + more));
  work.flops = f * (nnz * (16 + 8 * more) + rows * 2 * (1 + more));
  return work;
}

}  // namespace mf::ccd
