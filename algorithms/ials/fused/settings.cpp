#include "algorithms/ials/fused/settings.hpp"

#include <algorithm>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/als/fused/group_layout.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/ials/device_bytes.hpp"
#include "algorithms/ials/fused/tiles.hpp"
#include "algorithms/ials/fused/whitening_bytes.hpp"

namespace mf::ials {
namespace {

// Without reg, G of fewer rows than factors has no Cholesky factor.
std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const FusedSettings settings = read_fused_settings(params);
  if (auto why =
          als::why_not_applied(settings.common.factors, settings.precision, settings.normal)) {
    return why;
  }
  if (static_cast<float>(settings.common.loss.reg) > 0) return std::nullopt;
  return "reg is 0 in fp32: the Gram matrix may be singular, and ials_fused needs its Cholesky "
         "factor; use reg above 0, or ials";
}

MemoryNeed memory_need(const Params& params, const ProblemShape& shape) {
  const FusedSettings settings = read_fused_settings(params);
  const std::int32_t factors = settings.common.factors;
  const int devices = devices_of(params);
  const ProblemShape own = share_of(shape, devices);
  const auto nnz = static_cast<double>(own.nnz);
  const double rows = shape.rows();
  const auto own_rows = static_cast<double>(own.n_users) + static_cast<double>(own.n_items);
  const auto longer = static_cast<double>(std::max(own.n_users, own.n_items));
  const double words = settings.precision == als::FusedPrecision::fp16 ? 1 : 2;
  // Tasks and parts of split rows: as of als_fused.
  const double parts = split_parts(own, als::longest_part(factors, settings.split_rows));
  const double tasks = (own_rows + parts) * sizeof(als::FusedTask);
  const std::int64_t floats = slot_floats(false, settings.precision, factors);
  const bool group = settings.precision == als::FusedPrecision::fp16 &&
                     als::fused_tiles(factors) == als::kGroupTiles;
  const double slot =
      4.0 *
      static_cast<double>(group ? std::max<std::int64_t>(floats, als::kGroupSlotFloats) : floats);
  const auto row = static_cast<double>(4 * row_stride(factors, sizeof(float)));
  const double narrow = 2 * words * static_cast<double>(als::fused_stride(factors));
  const double trained = 16 * nnz + rows * (row + narrow) + longer * row + tasks +
                         parts * (slot + 4) + whitening_bytes(factors);
  // Pairs by users, by items, and the entries of one side; before that, the tasks of that side.
  const double side = tasks + std::max(8 * nnz, cutting_bytes(longer + parts, longer));
  const double sides = row_ratings_bytes(own) + column_ratings_bytes(own) + side;
  const double making =
      devices > 1 ? joining_columns_bytes(shape, devices) : making_columns_bytes(shape);
  return {pinned_bytes(own),
          {std::max(sides, making), trained},
          BesideRatings{{side + 8 * nnz, trained}, true},
          kLibraryBytes};
}

}  // namespace

FusedSettings read_fused_settings(const Params& params) {
  return {read_common(params), params.choice("precision", als::kFusedPrecisions),
          params.choice("normal", als::kFusedNormals), params.integer("split_rows")};
}

AlgorithmInfo fused_info() {
  AlgorithmInfo info = shared_info("ials_fused");
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
       ParamSpec::constant("split_rows", als::kLongestPart),
       devices_param()});
  info.supports = why_unsupported;
  info.memory = memory_need;
  return info;
}

}  // namespace mf::ials
