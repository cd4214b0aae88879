#include "algorithms/als/fused/applied_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace mf::als {
namespace {

constexpr std::int64_t kReservedBytes = 1024;  // of each block, by the system

// Cycles of a multiprocessor: a pair, and a row's product with A, where A is formed; a pair's part
// of a product, where it is applied. NOTES.md says where they are from.
struct Cycles {
  int tiles;
  double form_pair, formed_product, applied_pair;
  double formed_row = 0;  // what a formed row takes besides
};
constexpr Cycles kCycles[] = {{2, 2, 60, 6.5},     {4, 4.5, 100, 6.5}, {7, 10.7, 212, 6.5},
                              {8, 14.5, 285, 6.5}, {12, 30, 1200, 13}, {16, 45, 3200, 13},
                              {0, 0, 0, 26}};  // never formed
constexpr Cycles kGroupCycles = {16, 35, 1330, 16.7, 2300};
constexpr double kAppliedProduct = 60;  // a row's product beside its pairs
constexpr double kGatherPair = 8;       // of an applied row
constexpr double kRounding = 8;         // pairs that a formed row is rounded up by, on average
constexpr double kWrittenRow = 30;      // of a row without pairs

const Cycles& cycles_of(int factors, bool group) {
  const int tiles = fused_tiles(factors);
  return group ? kGroupCycles
               : *std::find_if(std::begin(kCycles), std::end(kCycles),
                               [&](const Cycles& of) { return of.tiles == tiles; });
}

}  // namespace

std::int64_t applied_capacity(const AppliedLimits& limits, int factors, int warps) {
  const std::int64_t share = limits.of_multiprocessor * warps / kAppliedWarps - kReservedBytes;
  const std::int64_t bytes = std::min(share, limits.of_block) - applied_bytes(factors, warps, 0);
  return std::max<std::int64_t>(0, bytes / applied_pair_bytes(factors));
}

std::int64_t applied_break_even(int factors, int steps, bool group) {
  const Cycles& c = cycles_of(factors, group);
  const double products = steps + 1;
  // formed_row + form_pair (n + kRounding) + products formed_product = (products applied_pair +
  // kGatherPair) n + products kAppliedProduct
  const double row =
      c.formed_row + c.form_pair * kRounding + products * (c.formed_product - kAppliedProduct);
  const double pair = products * c.applied_pair + kGatherPair - c.form_pair;
  if (pair <= 0) return std::int64_t{1} << 30;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(row / pair));
}

std::int64_t longest_applied(const AppliedChoice& choice, const AppliedLimits& limits) {
  if (choice.factors > kMostFormedFactors) return std::numeric_limits<std::int32_t>::max();
  if (choice.normal == FusedNormal::formed) return -1;
  if (choice.precision == FusedPrecision::fp16x2) return -1;
  const std::int64_t most = applied_capacity(limits, choice.factors, kAppliedWarps);
  if (choice.normal == FusedNormal::applied) return most;
  return std::min(most, applied_break_even(choice.factors, choice.steps, choice.group));
}

double row_cycles(std::int64_t count, int factors, int steps, bool group, std::int64_t up_to,
                  int words) {
  if (count == 0) return kWrittenRow;
  const Cycles& c = cycles_of(factors, group);
  const auto pairs = static_cast<double>(count);
  const double products = steps + 1;
  if (count <= up_to) {
    return (products * c.applied_pair + kGatherPair) * pairs + products * kAppliedProduct;
  }
  const double of_words = words == 1 ? 1 : 3;  // high high, high low, low high
  return c.formed_row + of_words * c.form_pair * (pairs + kRounding) + products * c.formed_product;
}

AppliedCapacities applied_capacities(const AppliedLimits& limits, int factors) {
  static_assert(std::size(kAppliedBlockWarps) == kAppliedShapes);
  AppliedCapacities most;
  for (int k = 0; k < kAppliedShapes; ++k) {
    most.pairs[k] = applied_capacity(limits, factors, kAppliedBlockWarps[k]);
  }
  return most;
}

AppliedPlan plan_applied(const AppliedBands& bands, std::int64_t count) {
  AppliedPlan plan;
  const std::int64_t streamed = bands.band[kAppliedShapes - 1].first - bands.formed;
  if (streamed > 0) plan.push_back({bands.formed, streamed, kAppliedWarps, 0, true});
  for (int k = kAppliedShapes - 1; k >= 0; --k) {
    const AppliedBand& band = bands.band[k];
    const std::int64_t end = k == 0 ? count : bands.band[k - 1].first;
    if (band.first < end) {
      plan.push_back({band.first, end - band.first, kAppliedBlockWarps[k], band.pairs, false});
    }
  }
  return plan;
}

}  // namespace mf::als
