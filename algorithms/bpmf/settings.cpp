#include "algorithms/bpmf/settings.hpp"

#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::bpmf {

static std::vector<ParamSpec> common_params() {
  return {factors_param(32, kMaxFactors),
          ParamSpec::choice("center", "mean", {"none", "mean", "biases"},
                            "what stands beside p.q: nothing, mu, or mu + b_u + c_i, whose biases "
                            "are drawn as further columns of P and Q"),
          ParamSpec::integer("burn_in", 10, 0, 1'000'000'000,
                             "first draws that are not averaged over", "epochs"),
          ParamSpec::number("alpha", 0, 0, 1e6,
                            "precision of the ratings, 1 / variance; 0: drawn, too, with a Gamma "
                            "prior"),
          ParamSpec::constant("beta0", 2.0),
          ParamSpec::constant("nu0", std::int64_t{0})};
}

std::vector<ParamSpec> cpu_params() { return join_params(common_params(), {threads_param()}); }

std::vector<ParamSpec> device_params() {
  return join_params(
      common_params(),
      {ParamSpec::choice(
          "precision", als::FusedPrecision::fp16, als::kFusedPrecisions,
          "type of the gathered rows: one fp16 word a factor, or the sum of two; products are "
          "added in fp32")});
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.center = params.choice("center", als::kCenterKinds);
  settings.columns = {static_cast<std::int32_t>(params.integer("factors")),
                      settings.center == als::CenterKind::biases};
  settings.burn_in = params.integer("burn_in");
  settings.alpha = params.number("alpha");
  settings.nu0 = settings.columns.drawn();
  if (params.has("precision")) {
    settings.precision = params.choice("precision", als::kFusedPrecisions);
  }
  return settings;
}

Work draw_work(const Settings& settings, std::int64_t nnz, std::int64_t rated_rows) {
  const RowColumns& columns = settings.columns;
  als::Common common = {columns.gathered(), 0, settings.center, {}};
  Work work = als::iteration_work(common, als::Solver::cholesky, nnz, rated_rows);
  // The moments of the rows are made of them, which are read once more.
  const double numbers = columns.drawn();
  const auto rows = static_cast<double>(rated_rows);
  work.bytes += rows * 4 * numbers;
  work.flops += rows * (numbers * (numbers + 1) + 2 * numbers);
  return work;
}

}  // namespace mf::bpmf
