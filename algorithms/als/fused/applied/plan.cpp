#include "algorithms/als/fused/applied/plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace mf::als {
namespace {

constexpr std::int64_t kReservedBytes = 1024;  // of each block, by the system

// Cycles of a multiprocessor: a pair, and a row's product with A, if A is formed; a pair's part of
// a product, if it is applied. NOTES.md has their origin.
struct Cycles {
  int tiles;
  double form_pair, formed_product, applied_pair;
  double formed_row = 0;  // other cost of a formed row
};
constexpr Cycles kCycles[] = {{2, 2, 60, 6.5},     {4, 4.5, 100, 6.5}, {7, 10.7, 212, 6.5},
                              {8, 14.5, 285, 6.5}, {12, 30, 1200, 13}, {16, 45, 3200, 13},
                              {0, 0, 0, 26}};  // never formed
constexpr Cycles kGroupCycles = {16, 35, 1330, 16.7, 2300};
constexpr double kAppliedProduct = 60;  // a row's product beside its pairs
constexpr double kGatherPair = 8;       // of an applied row
constexpr double kRounding = 8;         // pairs that a formed row is rounded up by, on average
constexpr double kWrittenRow = 30;      // of a row without pairs
constexpr std::int64_t kLongestTried = 4096;  // more than a block holds

// In the space of pairs: cycles of a row with this many tiles, and of one product with K.
struct DualCycles {
  double row, pair, product;
};
constexpr DualCycles kDualCycles[] = {{150, 7, 60}, {300, 30, 120}};  // up to 128, 256 factors

const Cycles& cycles_of(const AppliedChoice& choice) {
  const int tiles = fused_tiles(choice.factors);
  return choice.group ? kGroupCycles
                      : *std::find_if(std::begin(kCycles), std::end(kCycles),
                                      [&](const Cycles& of) { return of.tiles == tiles; });
}

std::int64_t longest_dual_row(const AppliedChoice& choice) {
  return choice.dual ? longest_dual(choice.factors) : -1;
}

double formed_cycles(std::int64_t count, const AppliedChoice& choice) {
  const Cycles& c = cycles_of(choice);
  // high high; of two words high low and low high, too
  const double of_words = choice.precision == FusedPrecision::fp16 ? 1 : 3;
  return c.formed_row + of_words * c.form_pair * (static_cast<double>(count) + kRounding) +
         (choice.steps + 1) * c.formed_product;
}

double applied_cycles(std::int64_t count, const AppliedChoice& choice) {
  const auto pairs = static_cast<double>(count);
  if (count <= longest_dual_row(choice)) {
    const DualCycles& dual = kDualCycles[choice.factors > 128];
    return dual.row + dual.pair * pairs + choice.steps * dual.product;
  }
  const int products = choice.steps + 1;
  return (products * cycles_of(choice).applied_pair + kGatherPair) * pairs +
         products * kAppliedProduct;
}

}  // namespace

std::int64_t applied_capacity(const AppliedLimits& limits, int factors, int warps) {
  const std::int64_t share = limits.of_multiprocessor * warps / kAppliedWarps - kReservedBytes;
  const std::int64_t bytes = std::min(share, limits.of_block) - applied_bytes(factors, warps, 0);
  return std::max<std::int64_t>(0, bytes / applied_pair_bytes(factors));
}

std::int64_t applied_break_even(const AppliedChoice& choice) {
  for (std::int64_t count = 1; count <= kLongestTried; ++count) {
    if (applied_cycles(count, choice) > formed_cycles(count, choice)) return count - 1;
  }
  return kLongestTried;
}

std::int64_t longest_applied(const AppliedChoice& choice, const AppliedLimits& limits) {
  if (choice.factors > kMostFormedFactors) return std::numeric_limits<std::int32_t>::max();
  if (choice.normal == FusedNormal::formed) return -1;
  if (choice.precision == FusedPrecision::fp16x2) return -1;
  const std::int64_t most = applied_capacity(limits, choice.factors, kAppliedWarps);
  if (choice.normal == FusedNormal::applied) return most;
  return std::min(most, applied_break_even(choice));
}

double row_cycles(std::int64_t count, const AppliedChoice& choice, std::int64_t up_to) {
  if (count == 0) return kWrittenRow;
  return count <= up_to ? applied_cycles(count, choice) : formed_cycles(count, choice);
}

AppliedCapacities applied_capacities(const AppliedLimits& limits, const AppliedChoice& choice) {
  AppliedCapacities most;
  std::int64_t before = -1;
  for (int k = 0; k < kAppliedShapes; ++k) {
    const auto [tiles, warps] = kAppliedShape[k];
    const std::int64_t own =
        tiles > 0 ? std::min<std::int64_t>(tiles * kFusedTile, longest_dual_row(choice))
                  : applied_capacity(limits, choice.factors, warps);
    most.pairs[k] = before = std::max(before, own);
  }
  return most;
}

AppliedPlan plan_applied(const AppliedBands& bands, std::int64_t count) {
  AppliedPlan plan;
  constexpr int kLast = kAppliedShapes - 1;
  const std::int64_t streamed = bands.band[kLast].first - bands.formed;
  if (streamed > 0) plan.push_back({bands.formed, streamed, kAppliedShape[kLast], 0, true});
  for (int k = kLast; k >= 0; --k) {
    const AppliedBand& band = bands.band[k];
    const std::int64_t end = k == 0 ? count : bands.band[k - 1].first;
    if (band.first < end) {
      plan.push_back({band.first, end - band.first, kAppliedShape[k], band.pairs, false});
    }
  }
  return plan;
}

}  // namespace mf::als
