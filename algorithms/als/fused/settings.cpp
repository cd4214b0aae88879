#include "algorithms/als/fused/settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/als/fused/group_layout.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kLeastPart = 512;  // adding the sums of shorter parts costs more
// With fewer ratings, applied rows do not save what launching their kernels takes, where forming is
// cheap: up to so many factors.
constexpr std::int64_t kFewRatings = 4'000'000;
constexpr int kMostFactorsOfFew = 128;

}  // namespace

std::vector<ParamSpec> fused_params() {
  std::vector<ParamSpec> params = common_params(kMostAppliedFactors);
  params.push_back(ParamSpec::choice("precision", FusedPrecision::fp16, kFusedPrecisions,
                                     "type of the gathered rows: one fp16 word a factor, or the "
                                     "sum of two; products are added in fp32"));
  params.push_back(ParamSpec::constant("normal", "auto"));
  params.push_back(ParamSpec::constant("products", "auto"));
  params.push_back(ParamSpec::constant("split_rows", kLongestPart));
  params.push_back(devices_param());
  return params;
}

FusedSettings read_fused_settings(const Params& params) {
  return {read_common(params), params.choice("precision", kFusedPrecisions),
          params.choice("normal", kFusedNormals), params.choice("products", kFusedProducts),
          params.integer("split_rows")};
}

// Of a kernel by groups of warps (group_layout.hpp), where the device has it.
static bool has_group_shape(const FusedSettings& settings) {
  return settings.precision == FusedPrecision::fp16 &&
         fused_tiles(settings.common.factors) == kGroupTiles;
}

std::int64_t longest_part(int factors, std::int64_t split_rows) {
  return factors > kMostFormedFactors ? std::numeric_limits<std::int32_t>::max() : split_rows;
}

std::int64_t part_of_few(const FusedSettings& settings, std::int64_t ratings) {
  const int factors = settings.common.factors;
  if (factors > kMostFormedFactors) return longest_part(factors, settings.split_rows);
  const bool two_words = settings.precision == FusedPrecision::fp16x2;
  const std::int64_t blocks =
      std::int64_t{kMultiprocessors} * fused_blocks(fused_tiles(factors), two_words);
  return std::max(kLeastPart, ratings / blocks);
}

FusedNormal normal_of(const FusedSettings& settings, std::int64_t ratings) {
  const bool formed = settings.normal == FusedNormal::automatic && ratings < kFewRatings &&
                      settings.common.factors <= kMostFactorsOfFew;
  return formed ? FusedNormal::formed : settings.normal;
}

std::optional<std::string> why_not_applied(int factors, FusedPrecision precision,
                                           FusedNormal normal) {
  if (normal == FusedNormal::applied && precision == FusedPrecision::fp16x2) {
    return "normal \"applied\" with precision \"fp16x2\": its kernel has one word a factor; use "
           "precision \"fp16\", or normal \"formed\"";
  }
  if (factors <= kMostFormedFactors) return std::nullopt;
  const bool formed = normal == FusedNormal::formed;
  if (!formed && precision == FusedPrecision::fp16) return std::nullopt;
  return fmt::format(
      "{} with {} factors: A of more than {} is not formed, but applied, by a kernel that has one "
      "word a factor; use {}, or fewer factors",
      formed ? "normal \"formed\"" : "precision \"fp16x2\"", factors, kMostFormedFactors,
      formed ? "normal \"auto\"" : "precision \"fp16\"");
}

std::optional<std::string> fused_why_unsupported(const Params& params, const ProblemShape&) {
  const FusedSettings settings = read_fused_settings(params);
  return why_not_applied(settings.common.factors, settings.precision, settings.normal);
}

// Where few ratings are cut, the long rows do not hold all of them: the shorter rows are on
// average, the fewer they hold. (1.03, .94 and .97 of the number for ml-1m and 512, 757 and 1,024.)
static double parts_of_rows(const FusedSettings& settings, const ProblemShape& shape,
                            const ProblemShape& own) {
  const std::int64_t split = longest_part(settings.common.factors, settings.split_rows);
  const std::int64_t few = part_of_few(settings, shape.nnz);
  if (split <= few) return split_parts(own, split);
  const auto rows =
      static_cast<double>(std::max<std::int64_t>(1, std::min(own.n_users, own.n_items)));
  const double mean = static_cast<double>(own.nnz) / rows;
  return split_parts(own, few) * std::clamp(2 * mean / static_cast<double>(few) - 0.13, 0.25, 1.0);
}

// For several devices that of rank 0, which holds all rows in fp32 beside the words of all.
MemoryNeed fused_memory_need(const Params& params, const ProblemShape& shape) {
  const FusedSettings settings = read_fused_settings(params);
  const int factors = settings.common.factors;
  const bool centered = settings.common.center != CenterKind::none;
  const int devices = devices_of(params);
  const ProblemShape own = share_of(shape, devices);
  const auto nnz = static_cast<double>(own.nnz);
  const double rows = shape.rows();
  const auto own_rows = static_cast<double>(own.n_users) + static_cast<double>(own.n_items);
  const double words = settings.precision == FusedPrecision::fp16 ? 1 : 2;
  // Both sides take turns with the memory of the parts.
  const double parts = parts_of_rows(settings, shape, own);
  const double tasks = (own_rows + parts) * sizeof(FusedTask);
  const int tiles = fused_tiles(factors);
  const int warps = fused_warps(tiles, settings.precision == FusedPrecision::fp16x2);
  const int slot_floats = fused_slot_floats_of_thread(tiles, warps) * 32 * warps;
  const bool group = has_group_shape(settings) && settings.products != FusedProducts::warp;
  const double slot = 4.0 * (group ? std::max(slot_floats, kGroupSlotFloats) : slot_floats);
  const double row_bytes =
      4.0 * (factors + 3) + 2 * words * static_cast<double>(fused_stride(factors));
  const double trained =
      16 * nnz + rows * (row_bytes + (centered ? 4 : 0)) + tasks + parts * (slot + 4);
  // R by rows, by columns, and the entries of one side: 24 bytes a rating.
  const double sides = row_ratings_bytes(own) + column_ratings_bytes(own) + 8 * nnz + tasks;
  const double making =
      devices > 1 ? joining_columns_bytes(shape, devices) : making_columns_bytes(shape);
  return {pinned_bytes(own),
          {std::max(sides, making), trained},
          BesideRatings{{8 * nnz + tasks, trained}, true}};
}

}  // namespace mf::als
