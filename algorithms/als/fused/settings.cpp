#include "algorithms/als/fused/settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kLeastPart = 512;  // adding the sums of shorter parts costs more
// With fewer ratings, applied rows save less than the launch of their kernels costs, if forming is
// cheap: up to this many factors.
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
  return join_params(std::move(params), streaming_params());
}

FusedSettings read_fused_settings(const Params& params) {
  return {read_common(params),
          params.choice("precision", kFusedPrecisions),
          params.choice("normal", kFusedNormals),
          params.choice("products", kFusedProducts),
          params.integer("split_rows"),
          read_streaming(params)};
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

std::optional<std::string> fused_why_unsupported(const Params& params, const ProblemShape& shape) {
  const FusedSettings settings = read_fused_settings(params);
  if (const auto why = why_too_long(params, kMostAppliedFactors)) return why;
  if (settings.common.solves_biases() && devices_of(params) > 1) {
    return "als_fused cannot use center \"solved\" with several devices, because its devices do "
           "not send each other biases; use one device, or center \"biases\"";
  }
  if (const auto why =
          why_not_applied(settings.common.factors, settings.precision, settings.normal)) {
    return why;
  }
  StreamingNeed need = fused_need(settings, shape);
  if (devices_of(params) > 1) need.why_not_streamed = kOneDevice;
  return why_not_within(settings.streaming, need);
}

StreamingNeed fused_need(int factors, FusedPrecision precision, std::int64_t longest, double more,
                         const ProblemShape& shape) {
  const int words = precision == FusedPrecision::fp16 ? 1 : 2;
  const std::int64_t numbers =
      4 * row_stride(factors, sizeof(float)) + 2 * words * fused_stride(factors);
  const double row = static_cast<double>(numbers) + sizeof(std::int64_t) + sizeof(FusedTask);
  StreamingNeed need;
  need.fixed = shape.rows() * (row + more);
  if (const int tiles = fused_tiles(factors); tiles > 0) {
    const int warps = fused_warps(tiles, words == 2);
    need.beside =
        4.0 * 32 * warps * fused_slot_floats_of_thread(tiles, warps) / static_cast<double>(longest);
  }
  const auto nnz = static_cast<double>(shape.nnz);
  need.resident = std::max(32 * nnz, (16 + need.beside) * nnz + need.fixed);
  return need;
}

StreamingNeed fused_need(const FusedSettings& settings, const ProblemShape& shape) {
  const std::int64_t longest = std::min(settings.split_rows, part_of_few(settings, shape.nnz));
  StreamingNeed need = fused_need(settings.common.factors, settings.precision, longest, 0, shape);
  if (settings.common.solves_biases()) {
    need.why_not_streamed =
        "center \"solved\" changes all ratings in every half-step; use center \"biases\", \"mean\" "
        "or \"none\"";
  }
  return need;
}

// The ring is of about a sixteenth of the ratings.
MemoryUse streamed_memory(const StreamingNeed& of_row) {
  return {.host = {.preparing = 16, .rating = 4}, .device = {.rating = 1.5, .row = of_row.fixed}};
}

// With the slots of split rows.
MemoryUse fused_memory(const Params& params) {
  const FusedSettings settings = read_fused_settings(params);
  const double f = settings.common.factors;
  const double slots =
      f > kMostFormedFactors ? 0 : 2 * f * f / static_cast<double>(settings.split_rows);
  const MemoryUse streamed = streamed_memory(fused_need(settings, {1, 0, 0}));
  if (settings.streaming.memory == RatingMemory::streamed) return streamed;
  MemoryUse use{.device = {.preparing = 32,
                           .rating = 16 + slots,
                           .number = settings.precision == FusedPrecision::fp16 ? 6.0 : 8.0,
                           .row = 40}};
  const bool streams = !settings.common.solves_biases() && devices_of(params) == 1;
  if (streams && settings.streaming.memory == RatingMemory::automatic)
    use.least_device = streamed.device;
  return use;
}

}  // namespace mf::als
