// Rows that are solved without A, and their thread blocks: rows that fit in shared memory, and all
// rows of more than kMostFormedFactors. For the host, too.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/fused/layout.hpp"
#include "base/host_device.hpp"

namespace mf::als {

// Shared memory in bytes.
struct AppliedLimits {
  std::int64_t of_multiprocessor = 0;
  std::int64_t of_block = 0;
};

// Lanes that have a row; a warp has one or two rows at a time.
constexpr int applied_lanes(int factors) { return fused_stride(factors) <= 128 ? 16 : 32; }
// 16-byte words of a row that a lane has.
constexpr int applied_words(int factors) { return fused_stride(factors) <= 256 ? 1 : 2; }
constexpr int kMostAppliedFactors = 512;

// Warps of a multiprocessor that the kernel of held rows has registers for.
inline constexpr int kAppliedWarps = 16;

// A row's thread block. tiles > 0: of dual.hpp, for up to 16 `tiles` pairs. Else a number of warps
// that grows with the pairs, so that each warp has about as many.
struct AppliedShape {
  int tiles = 0;
  int warps = 0;
  bool operator==(const AppliedShape&) const = default;
};
inline constexpr int kAppliedShapes = 10;
inline constexpr AppliedShape kAppliedShape[kAppliedShapes] = {
    {1, 0}, {2, 0}, {3, 0}, {4, 0}, {6, 0}, {8, 0}, {0, 2}, {0, 4}, {0, 8}, {0, 16}};

// Pairs of the longest row that dual.hpp's kernels take; -1: none.
constexpr std::int64_t longest_dual(int factors) {
  if (factors > kMostFormedFactors) return -1;
  return factors > 128 ? 128 : factors > 64 ? 64 : 32;  // of 64 factors A costs less from there on
}
// The least lambda for which they do. r.r is known to 1e-7 of r_0.r_0 there, and a step along the
// rest of r is as long as 1 / lambda.
inline constexpr double kLeastDualReg = 1e-4;

// Shared memory of a block: of each pair its row, the index and two floats; and two buffers with
// each warp's part of a product.
constexpr std::int64_t applied_pair_bytes(int factors) { return fused_stride(factors) * 2 + 12; }
constexpr std::int64_t applied_bytes(int factors, int warps, std::int64_t pairs) {
  return pairs * applied_pair_bytes(factors) +
         std::int64_t{2} * warps * applied_lanes(factors) * applied_words(factors) * 32;
}

// Pairs of the longest row that a block of `warps` takes; 0: none. A multiprocessor then holds as
// many blocks as their registers allow.
std::int64_t applied_capacity(const AppliedLimits& limits, int factors, int warps);

// Inputs of the choice of applied rows and their kernels.
struct AppliedChoice {
  FusedNormal normal = FusedNormal::automatic;
  FusedPrecision precision = FusedPrecision::fp16;
  int factors = 0;
  int steps = 0;
  bool dual = true;    // short ones in the space of their pairs
  bool group = false;  // A is formed by group.hpp's kernel
};

// The longest row for which forming A is estimated to take longer, by the cycles of
// ials/fused/NOTES.md.
std::int64_t applied_break_even(const AppliedChoice& choice);
// Pairs of the longest of them; -1: none. Any if A is not formed.
std::int64_t longest_applied(const AppliedChoice& choice, const AppliedLimits& limits);

// Cycles of a multiprocessor for a row of `count` pairs, as above: rows are cut among devices by
// them. `up_to`: the most pairs of an applied row (-1: none).
double row_cycles(std::int64_t count, const AppliedChoice& choice, std::int64_t up_to);

// Pairs of the longest row for each of kAppliedShape; none has fewer than the one before.
struct AppliedCapacities {
  std::int64_t pairs[kAppliedShapes] = {};
};
AppliedCapacities applied_capacities(const AppliedLimits& limits, const AppliedChoice& choice);

// The first of tasks [begin, end) that `holds`; it holds for all after it.
template <class Holds>
MF_HD std::int64_t first_that(const FusedTask* tasks, std::int64_t begin, std::int64_t end,
                              const Holds& holds) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (holds(tasks[middle])) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

struct IsApplied {
  std::int64_t up_to;
  MF_HD bool operator()(const FusedTask& task) const {
    return task.parts == 1 && task.count <= up_to;
  }
};
struct HasAtMost {
  std::int64_t pairs;
  MF_HD bool operator()(const FusedTask& task) const { return task.count <= pairs; }
};

// Tasks before the applied ones.
MF_HD std::int64_t count_formed(const FusedTask* tasks, std::int64_t count,
                                std::int64_t applied_up_to) {
  return first_that(tasks, 0, count, IsApplied{applied_up_to});
}

// The first applied task that a shape takes, and its pairs. The band ends at the start of the shape
// before.
struct AppliedBand {
  std::int64_t first = 0;
  std::int64_t pairs = 0;
};
struct AppliedBands {
  std::int64_t formed = 0;
  AppliedBand band[kAppliedShapes];
};

// tasks[formed] to tasks[count - 1] are applied, the longest first. Those before the last shape's
// band fit no block.
MF_HD AppliedBand find_band(const FusedTask* tasks, std::int64_t formed, std::int64_t count,
                            const AppliedCapacities& most, int number) {
  AppliedBand band;
  band.first = first_that(tasks, formed, count, HasAtMost{most.pairs[number]});
  band.pairs = band.first < count ? tasks[band.first].count : 0;
  return band;
}

// Tasks [first, first + count), a thread block of that shape each; no row has more than `pairs`.
// Streamed: the pairs' rows are gathered anew for each product.
struct AppliedLaunch {
  std::int64_t first = 0;
  std::int64_t count = 0;
  AppliedShape shape;
  std::int64_t pairs = 0;
  bool streamed = false;
  bool operator==(const AppliedLaunch&) const = default;
};
using AppliedPlan = std::vector<AppliedLaunch>;

// For `count` tasks in all.
AppliedPlan plan_applied(const AppliedBands& bands, std::int64_t count);

}  // namespace mf::als
