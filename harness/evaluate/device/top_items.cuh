// The best kRanks of a row of scores, a block a row.
//
// Each thread takes the best of every kSelectThreads-th score. The kRanks-th best of those
// kSelectThreads scores is a bound: at least kRanks scores are not below it, so the best kRanks are
// all among the scores not below it. In a second pass the keys of these are collected in shared
// memory (about 130 of 26,744 in random order), and sorted: only they need the place of their item
// among equal scores. If more than fit lie above the bound, the pass is done again in pieces, and
// the worst are dropped whenever the space is nearly full.
#pragma once

#include <cstdint>

#include "harness/evaluate/rank_key.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf {

inline constexpr int kSelectThreads = 256;
inline constexpr int kCandidates = 1024;
// In place of a score that is left out: a NaN that no product has.
inline constexpr std::uint32_t kMaskedBits = 0x7fb1a5edU;

struct SelectArgs {
  std::uint32_t* scores = nullptr;  // bits of fp32; row r at r * row_stride
  std::int64_t row_stride = 0;
  std::int32_t n_items = 0;
  std::int64_t first_user = 0;  // row 0's among the ranked users
  const std::int64_t* seen_offsets = nullptr;
  const std::int32_t* seen = nullptr;
  const std::int64_t* held_out_offsets = nullptr;
  const std::int32_t* held_out = nullptr;
  // One for each ranked user.
  const TieKey* tie_keys = nullptr;
  Hits* hits = nullptr;
  std::uint8_t* tied = nullptr;
  std::int32_t* top = nullptr;  // kRanks for each, or null
  int* not_finite = nullptr;    // set to 1 if a score is not finite
};

__device__ inline bool is_finite_bits(std::uint32_t bits) {
  return (bits & 0x7f800000U) != 0x7f800000U;
}

// 0 if it is not finite.
__device__ inline std::uint32_t load_order(const std::uint32_t* row, std::int32_t item) {
  const std::uint32_t bits = row[item];
  return is_finite_bits(bits) ? score_order(__uint_as_float(bits)) : 0;
}

// Sorts keys[0, n) so that they fall; n is a power of 2. All threads of the block call it; it sees
// their earlier writes, and they see its results.
__device__ inline void sort_falling(RankKey* keys, int n) {
  for (int size = 2; size <= n; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < n / 2; t += kSelectThreads) {
        const SortPair pair = sort_pair(t, size, stride);
        const RankKey a = keys[pair.low];
        const RankKey b = keys[pair.low + stride];
        if ((a < b) != pair.rising) {
          keys[pair.low] = b;
          keys[pair.low + stride] = a;
        }
      }
    }
  }
  __syncthreads();
}

// The same for any count to kCandidates: filled up with kNoKey. The space goes on to the next power
// of 2.
__device__ inline void sort_candidates(RankKey* keys, int count) {
  int n = kSelectThreads / 2;
  while (n < count) n *= 2;
  for (int i = count + static_cast<int>(threadIdx.x); i < n; i += kSelectThreads) keys[i] = kNoKey;
  sort_falling(keys, n);
}

// Writes over the scores that are left out. Sets not_finite for those among them.
__device__ inline void mask_seen(const SelectArgs& args, std::int64_t user, std::uint32_t* row) {
  const std::int64_t end = args.seen_offsets[user + 1];
  for (std::int64_t i = args.seen_offsets[user] + threadIdx.x; i < end; i += kSelectThreads) {
    const std::int32_t item = args.seen[i];
    if (!is_finite_bits(row[item])) *args.not_finite = 1;
    row[item] = kMaskedBits;
  }
  __syncthreads();
}

// The kRanks-th best of the threads' best scores; 1 if there are fewer.
__device__ inline std::uint32_t bound_of(const SelectArgs& args, const std::uint32_t* row,
                                         RankKey* keys) {
  std::uint32_t best = 0;
  bool bad = false;
#pragma unroll 8
  for (std::int32_t i = static_cast<int>(threadIdx.x); i < args.n_items; i += kSelectThreads) {
    const std::uint32_t bits = row[i];
    const bool finite = is_finite_bits(bits);
    bad = bad || (!finite && bits != kMaskedBits);
    const std::uint32_t order = finite ? score_order(__uint_as_float(bits)) : 0;
    best = order > best ? order : best;
  }
  if (bad) *args.not_finite = 1;
  keys[threadIdx.x] = first_key(best);
  sort_falling(keys, kSelectThreads);
  const std::uint32_t bound = order_of_key(keys[kRanks - 1]);
  __syncthreads();
  return bound > 0 ? bound : 1;
}

// Collects the keys of scores from `bound` on; returns how many there are. The first kCandidates
// are kept, in any order.
__device__ inline int collect(const SelectArgs& args, const std::uint32_t* row, std::uint32_t bound,
                              TieKey tie, RankKey* keys, int* shared_count) {
  if (threadIdx.x == 0) *shared_count = 0;
  __syncthreads();
#pragma unroll 8
  for (std::int32_t i = static_cast<int>(threadIdx.x); i < args.n_items; i += kSelectThreads) {
    const std::uint32_t order = load_order(row, i);
    if (order < bound) continue;
    const int at = atomicAdd(shared_count, 1);
    if (at < kCandidates) keys[at] = rank_key(order, i, tie);
  }
  __syncthreads();
  const int count = *shared_count;
  __syncthreads();
  return count;
}

// The same in pieces of kSelectThreads scores: never more than fit. Returns how many are left, not
// sorted, the best kRanks among them.
__device__ inline int collect_in_pieces(const SelectArgs& args, const std::uint32_t* row,
                                        std::uint32_t least, TieKey tie, RankKey* keys,
                                        int* shared_count) {
  if (threadIdx.x == 0) *shared_count = 0;
  __syncthreads();
  RankKey bound = first_key(least);
  int count = 0;
  for (std::int32_t first = 0; first < args.n_items; first += kSelectThreads) {
    const std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x);
    const std::uint32_t order = i < args.n_items ? load_order(row, i) : 0;
    const RankKey key = order == 0 ? kNoKey : rank_key(order, i, tie);
    if (key >= bound) keys[atomicAdd(shared_count, 1)] = key;
    __syncthreads();
    count = *shared_count;
    __syncthreads();
    if (count <= kCandidates - kSelectThreads) continue;
    sort_candidates(keys, count);
    bound = keys[kRanks - 1];
    count = kRanks;
    // The bound is among those kept; its equal does not come again, keys being different.
    if (threadIdx.x == 0) *shared_count = kRanks;
    __syncthreads();
  }
  return count;
}

// Rank t of thread t: is its item held out?
__device__ inline void write_hits(const SelectArgs& args, std::int64_t user, TieKey tie,
                                  const RankKey* keys, int count) {
  const int rank = static_cast<int>(threadIdx.x);
  constexpr int kWords = (kRanks + 31) / 32;
  if (rank >= kWords * 32) return;  // whole warps
  const RankKey key = rank < kRanks && rank < count ? keys[rank] : kNoKey;
  const std::int32_t item = key == kNoKey ? -1 : item_of_key(key, tie);
  std::int64_t low = args.held_out_offsets[user];
  std::int64_t high = args.held_out_offsets[user + 1];
  const std::int64_t end = high;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (args.held_out[middle] < item) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool hit = item >= 0 && low < end && args.held_out[low] == item;
  const unsigned word = __ballot_sync(0xffffffffU, hit);
  auto* words = reinterpret_cast<std::uint32_t*>(args.hits + user);
  if (rank % 32 == 0) words[rank / 32] = word;
  if (args.top != nullptr && rank < kRanks) args.top[user * kRanks + rank] = item;
}

// As RankedItems::tied.
__device__ inline std::uint8_t has_one_score(const RankKey* keys, int count) {
  const int last = (count < kRanks ? count : kRanks) - 1;
  return last > 0 && order_of_key(keys[0]) == order_of_key(keys[last]) ? 1 : 0;
}

__global__ void __launch_bounds__(kSelectThreads)
    select_top(const __grid_constant__ SelectArgs args) {
  __shared__ RankKey keys[kCandidates];
  __shared__ int shared_count;
  std::uint32_t* row = args.scores + blockIdx.x * args.row_stride;
  const std::int64_t user = args.first_user + blockIdx.x;
  const TieKey tie = args.tie_keys[user];
  mask_seen(args, user, row);
  const std::uint32_t bound = bound_of(args, row, keys);
  int count = collect(args, row, bound, tie, keys, &shared_count);
  if (count > kCandidates) count = collect_in_pieces(args, row, bound, tie, keys, &shared_count);
  sort_candidates(keys, count);
  write_hits(args, user, tie, keys, count);
  if (threadIdx.x == 0) args.tied[user] = has_one_score(keys, count);
}

}  // namespace mf
