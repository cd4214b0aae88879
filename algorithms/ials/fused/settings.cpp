#include "algorithms/ials/fused/settings.hpp"

#include <utility>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::ials {
namespace {

// Without reg, G of fewer rows than factors has no Cholesky factor.
std::optional<std::string> why_unsupported(const Params& params, const ProblemShape& shape) {
  const FusedSettings settings = read_fused_settings(params);
  if (auto why =
          als::why_not_applied(settings.common.factors, settings.precision, settings.normal)) {
    return why;
  }
  if (!(static_cast<float>(settings.common.loss.reg) > 0)) {
    return "reg is 0 in fp32: the Gram matrix may be singular, and ials_fused needs its Cholesky "
           "factor; use reg above 0, or ials";
  }
  StreamingNeed need = fused_need(settings, shape);
  if (devices_of(params) > 1) need.why_not_streamed = kOneDevice;
  return why_not_within(settings.streaming, need);
}

// With the slots of split rows.
MemoryUse fused_memory(const Params& params) {
  const FusedSettings settings = read_fused_settings(params);
  const double f = settings.common.factors;
  const double slots =
      f > als::kMostFormedFactors ? 0 : 4 * f * f / static_cast<double>(settings.split_rows);
  const MemoryUse streamed = als::streamed_memory(fused_need(settings, {1, 0, 0}));
  if (settings.streaming.memory == RatingMemory::streamed) return streamed;
  MemoryUse use{.device = {.preparing = 32,
                           .rating = 16 + slots,
                           .number = settings.precision == als::FusedPrecision::fp16 ? 8.0 : 12.0,
                           .row = 40}};
  if (devices_of(params) == 1 && settings.streaming.memory == RatingMemory::automatic)
    use.least_device = streamed.device;
  return use;
}

}  // namespace

FusedSettings read_fused_settings(const Params& params) {
  return {read_common(params), params.choice("precision", als::kFusedPrecisions),
          params.choice("normal", als::kFusedNormals), params.integer("split_rows"),
          read_streaming(params)};
}

// A half-step has its rows once more.
StreamingNeed fused_need(const FusedSettings& settings, const ProblemShape& shape) {
  const int factors = settings.common.factors;
  return als::fused_need(factors, settings.precision, settings.split_rows,
                         4.0 * static_cast<double>(row_stride(factors, sizeof(float))), shape);
}

AlgorithmInfo fused_info() {
  AlgorithmInfo info = shared_info("ials_fused");
  info.phases.emplace_back("sides");  // of streamed pairs
  info.summary =
      "implicit ALS in one kernel a half-step: the Gram matrix made the identity, A_u formed on "
      "tensor cores and CG on it, never in memory";
  info.paper = "mfbench";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.min_compute = 80;  // cp.async, mma.m16n8k16, redux
  info.params = join_params(
      common_params(als::kMostAppliedFactors),
      {cg_steps_param(),
       ParamSpec::choice("precision", als::FusedPrecision::fp16, als::kFusedPrecisions,
                         "type of the gathered rows: one fp16 word a factor, or the sum of "
                         "two; products are added in fp32"),
       ParamSpec::choice("normal", als::FusedNormal::automatic, als::kFusedNormals,
                         "A_u of a row: formed, or applied to vectors where its pairs fit in "
                         "shared memory; auto: by the row's length; more than 256 factors are "
                         "always applied"),
       ParamSpec::constant("split_rows", als::kLongestPart), devices_param()});
  info.params = join_params(std::move(info.params), streaming_params());
  info.supports = why_unsupported;
  info.memory = fused_memory;
  return info;
}

}  // namespace mf::ials
