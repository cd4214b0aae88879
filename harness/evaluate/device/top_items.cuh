// The best kRanks of a row of scores, a block a row.
//
// Scores are in fp32, or in fp16 with a bound on their error. Each thread takes the vectors of 16
// bytes that lie kSelectThreads apart, and the greatest score of each place in its vectors: groups
// of scores far apart, since neighbours may be alike. The kRanks-th greatest of the groups' is a
// bound that kRanks scores reach; scores that are not below it are the candidates, about 105 of
// 40,981. A second pass takes them from the spans of a thread that reach the bound.
//
// fp32 (select_top): keys in place of scores, so that equal scores are no more candidates than
// others. If they do not fit, the kRanks-th greatest of all is the bound. They are sorted.
//
// fp16 (select_candidates): an item of the first kRanks is not below the bound by more than twice
// the error. A held-out candidate's rank is the number of candidates above it; where the error
// leaves open which of two is above, both are scored again in fp32. A user whose candidates do not
// fit, or whose scores may overflow, is left to select_top. If all scores are 0, the upper halves
// of the items' places stand for them.
#pragma once

#include <cstdint>

#include "harness/evaluate/device/narrow_rows.cuh"
#include "harness/evaluate/rank_key.hpp"
#include "harness/evaluate/ranking.hpp"

namespace mf {

inline constexpr int kSelectThreads = 256;
inline constexpr int kCandidates = 1024;
inline constexpr int kSpans = 16;  // of a thread's vectors
inline constexpr int kLoads = 4;   // vectors a thread reads at once
// In place of a score that is left out: a NaN that no product has; -infinity, which none is.
inline constexpr std::uint32_t kMaskedBits = 0x7fb1a5edU;
inline constexpr std::uint16_t kMaskedHalf = 0xfc00;

struct SelectArgs {
  void* scores = nullptr;   // fp32 or fp16
  std::int32_t stride = 0;  // of the rows, in whole vectors
  std::int32_t n_items = 0;
  std::int64_t first_user = 0;           // row 0's among the ranked users
  const std::int32_t* picked = nullptr;  // or each row's; null: in order
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
  // Of fp16:
  const float* bounds = nullptr;  // of each row: narrow_users
  RowSource users, items;
  std::int32_t* left = nullptr;  // the users that are left to select_top
  int* left_count = nullptr;
};

struct Candidates {
  union {
    RankKey keys[kCandidates];
    float scores[kCandidates];
  };
  std::int32_t items[kCandidates];
  std::uint32_t orders[kCandidates];  // of scores in fp32; 0: not asked for, 1: not yet known
  std::uint16_t held_out[kCandidates];
  int counts[64];  // kth_greatest
  int count, held_out_count, first_count;
  std::uint32_t best, words[4];
};

// ---- sorted keys ----

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

__device__ inline bool is_held_out(const SelectArgs& args, std::int64_t user, std::int32_t item) {
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
  return low < end && args.held_out[low] == item;
}

// Rank t of thread t: is its item held out?
__device__ inline void write_hits(const SelectArgs& args, std::int64_t user, TieKey tie,
                                  const RankKey* keys, int count) {
  const int rank = static_cast<int>(threadIdx.x);
  constexpr int kWords = (kRanks + 31) / 32;
  if (rank >= kWords * 32) return;  // whole warps
  const RankKey key = rank < kRanks && rank < count ? keys[rank] : kNoKey;
  const std::int32_t item = key == kNoKey ? -1 : item_of_key(key, tie);
  const bool hit = item >= 0 && is_held_out(args, user, item);
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

// ---- rows ----

// Keys of a vector of scores; 0 for those left out, and beyond the end.
struct FloatRow {
  using Key = RankKey;
  using Score = std::uint32_t;
  static constexpr int kBits = 64, kScores = 4;
  static constexpr Score kMasked = kMaskedBits;

  uint4* vectors;
  int count;  // of vectors
  TieKey tie;
  bool* bad;  // set if a score is not finite

  __device__ void keys(const uint4& v, int at, Key* to) const {
    const std::uint32_t words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const bool finite = (words[i] & kInfinityBits) != kInfinityBits;
      if (!finite && words[i] != kMasked) *bad = true;
      const std::uint32_t order = finite ? score_order(__uint_as_float(words[i])) : 0;
      to[i] = order == 0 ? kNoKey : rank_key(order, kScores * at + i, tie);
    }
  }
};

// Of fp16: its bits so that they rise with the number, -0 below 0.
__device__ inline std::uint32_t half_order(std::uint32_t bits) {
  return bits ^ ((bits & 0x8000U) != 0 ? 0xffffU : 0x8000U);
}
__device__ inline float half_of_order(std::uint32_t order) {
  const std::uint32_t bits = order ^ ((order & 0x8000U) != 0 ? 0x8000U : 0xffffU);
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

struct HalfRow {
  using Key = std::uint32_t;
  using Score = std::uint16_t;
  static constexpr int kBits = 16, kScores = 8;
  static constexpr Score kMasked = kMaskedHalf;
  static constexpr Key kLeast = 0x400;  // of a score that is not left out

  uint4* vectors;
  int count;
  TieKey tie;
  bool zeros;

  __device__ void keys(const uint4& v, int at, Key* to) const {
    const std::uint32_t words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      to[i] = half_order(words[i / 2] >> 16 * (i % 2) & 0xffffU);
      if (zeros && to[i] >= kLeast) to[i] = max(tie_place(kScores * at + i, tie) >> 16, kLeast);
    }
  }
};

// Writes over what is not ranked: scores that are left out, and the end of the row. Sets
// not_finite for those of fp32 among them.
template <class Row>
__device__ void mask(const SelectArgs& args, std::int64_t user, const Row& row) {
  auto* scores = reinterpret_cast<typename Row::Score*>(row.vectors);
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t end = args.seen_offsets[user + 1];
  for (std::int64_t i = args.seen_offsets[user] + t; i < end; i += kSelectThreads) {
    auto& score = scores[args.seen[i]];
    if constexpr (Row::kBits == 64) {
      if ((score & kInfinityBits) == kInfinityBits) *args.not_finite = 1;
    }
    score = Row::kMasked;
  }
  for (int i = args.n_items + t; i < args.stride; i += kSelectThreads) scores[i] = Row::kMasked;
  __syncthreads();
}

// ---- passes over a row ----

// see(vector's place, its keys), for the thread's vectors from `first` to `end` of its own.
template <class Row, class See>
__device__ void for_vectors(const Row& row, int first, int end, See&& see) {
  constexpr std::uint32_t kMasked = Row::kBits == 64 ? kMaskedBits : kMaskedHalf * 0x10001U;
  for (; first < end; first += kLoads) {
    uint4 loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = (first + i) * kSelectThreads + static_cast<int>(threadIdx.x);
      const bool there = first + i < end && at < row.count;
      loaded[i] = there ? row.vectors[at] : uint4{kMasked, kMasked, kMasked, kMasked};
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = (first + i) * kSelectThreads + static_cast<int>(threadIdx.x);
      typename Row::Key keys[Row::kScores];
      row.keys(loaded[i], at, keys);
      see(at, keys);
    }
  }
}

// The kRanks-th greatest of the block's numbers, of which count(x) are not below x; 0 if there are
// fewer. `counts` are zeros, one a bit.
template <class Key, class Count>
__device__ Key kth_greatest(int bits, int* counts, Count&& count) {
  Key found = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    const Key tried = found | Key{1} << bit;
    const int mine = warp_total(count(tried));
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(counts + bit, mine);
    __syncthreads();
    if (counts[bit] >= kRanks) found = tried;
  }
  return found;
}

template <class Row>
class Passes {
 public:
  using Key = typename Row::Key;

  // A first pass, by which spans are known. Returns the groups' kRanks-th greatest key.
  __device__ Key bound_of_groups(const Row& row, int* counts) {
    Key groups[Row::kScores] = {};
    own_ = (row.count + kSelectThreads - 1) / kSelectThreads;
    span_ = (own_ + kSpans * kLoads - 1) / (kSpans * kLoads) * kLoads;
    for (int s = 0; s * span_ < own_; ++s) {
      Key most = 0;
      for_vectors(row, s * span_, min(own_, (s + 1) * span_), [&](int, const Key* keys) {
#pragma unroll
        for (int i = 0; i < Row::kScores; ++i) {
          groups[i] = max(groups[i], keys[i]);
          most = max(most, keys[i]);
        }
      });
      most_[s] = most;
    }
    return kth_greatest<Key>(Row::kBits, counts, [&](Key least) {
      int found = 0;
#pragma unroll
      for (int i = 0; i < Row::kScores; ++i) found += groups[i] >= least ? 1 : 0;
      return found;
    });
  }

  // take(item, key) for the keys of the thread that are not below `least`.
  template <class Take>
  __device__ void collect(const Row& row, Key least, Take&& take) const {
    for (int s = 0; s * span_ < own_; ++s) {
      if (most_[s] < least) continue;
      for_vectors(row, s * span_, min(own_, (s + 1) * span_), [&](int at, const Key* keys) {
#pragma unroll
        for (int i = 0; i < Row::kScores; ++i) {
          if (keys[i] >= least) take(Row::kScores * at + i, keys[i]);
        }
      });
    }
  }

 private:
  int own_, span_;  // vectors of the thread, and of a span
  Key most_[kSpans];
};

// ---- candidates in fp16 ----

// How far a score in fp32 may be from its fp16 number.
__device__ inline float error_of(float score, float bound) {
  return bound + 0.00049F * fabsf(score) + 0x1p-24F;  // above half of the last digit
}

__device__ inline std::uint32_t least_candidate(std::uint32_t bound_order, float bound) {
  if (bound_order < HalfRow::kLeast) return HalfRow::kLeast;
  const float reached = half_of_order(bound_order);
  const __half least = __float2half_rd(reached - error_of(reached, 2 * bound));
  const std::uint32_t bits = __half_as_ushort(least);
  // 0 is not above -0.
  return max(half_order(bits == 0 ? 0x8000U : bits), HalfRow::kLeast);
}

// Which are held out, and how many may have the best score.
__device__ inline void look_at_candidates(const SelectArgs& args, std::int64_t user, float bound,
                                          Candidates& found) {
  const float best = half_of_order(found.best);
  const float least = best - error_of(best, bound);
  int first = 0;
  for (int c = static_cast<int>(threadIdx.x); c < found.count; c += kSelectThreads) {
    const float score = found.scores[c];
    first += score + error_of(score, bound) >= least ? 1 : 0;
    found.orders[c] = 0;
    if (is_held_out(args, user, found.items[c])) {
      found.held_out[atomicAdd(&found.held_out_count, 1)] = static_cast<std::uint16_t>(c);
    }
  }
  if (first > 0) atomicAdd(&found.first_count, first);
  __syncthreads();
}

// Asks for the scores in fp32 of held-out candidates and others that are too near to them.
__device__ inline void ask_for_near(float bound, Candidates& found) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int j = static_cast<int>(threadIdx.x) / 32; j < found.held_out_count;
       j += kSelectThreads / 32) {
    const int h = found.held_out[j];
    const float score = found.scores[h];
    const float error = error_of(score, bound);
    for (int c = lane; c < found.count; c += 32) {
      const float other = found.scores[c];
      if (c == h || fabsf(other - score) > 1.001F * (error + error_of(other, bound))) continue;
      atomicOr(found.orders + c, 1U);
      atomicOr(found.orders + h, 1U);
    }
  }
}

// Those that are asked for, or all; a warp a candidate. Sums in an order that depends only on the
// width.
__device__ inline void score_again(const SelectArgs& args, std::int64_t user, bool all,
                                   Candidates& found) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int c = static_cast<int>(threadIdx.x) / 32; c < found.count; c += kSelectThreads / 32) {
    if (!all && found.orders[c] == 0) continue;
    float sum = 0;
    for (std::int32_t k = lane; k < args.users.width(); k += 32) {
      sum = fmaf(args.users.number(user, k), args.items.number(found.items[c], k), sum);
    }
    sum = warp_total(sum);
    __syncwarp();
    if (lane == 0) found.orders[c] = score_order(sum);
  }
  __syncthreads();
}

// Hits by the number of candidates above each that is held out.
__device__ inline void count_ranks(TieKey tie, Candidates& found) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto key = [&](int c) { return rank_key(found.orders[c], found.items[c], tie); };
  for (int j = static_cast<int>(threadIdx.x) / 32; j < found.held_out_count;
       j += kSelectThreads / 32) {
    const int h = found.held_out[j];
    const float score = found.scores[h];
    const RankKey own = key(h);
    int above = 0;
    for (int c = lane; c < found.count; c += 32) {
      const bool known = found.orders[c] != 0 && found.orders[h] != 0;
      above += (known ? key(c) > own : found.scores[c] > score) ? 1 : 0;
    }
    above = warp_total(above);
    if (lane == 0 && above < kRanks) atomicOr(found.words + above / 32, 1U << above % 32);
  }
  __syncthreads();
}

// ---- kernels ----

__device__ inline void start(Candidates& found) {
  __syncthreads();
  if (threadIdx.x < 64) found.counts[threadIdx.x] = 0;
  if (threadIdx.x < 4) found.words[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    found.count = found.held_out_count = found.first_count = 0;
    found.best = 0;
  }
  __syncthreads();
}

// Of keys: sorts them and writes what is asked for.
__device__ inline void finish_sorted(const SelectArgs& args, std::int64_t user, TieKey tie,
                                     Candidates& found) {
  sort_candidates(found.keys, found.count);
  write_hits(args, user, tie, found.keys, found.count);
  if (threadIdx.x == 0) args.tied[user] = has_one_score(found.keys, found.count);
}

__global__ void __launch_bounds__(kSelectThreads)
    select_top(const __grid_constant__ SelectArgs args) {
  __shared__ Candidates found;
  const std::int64_t user =
      args.picked == nullptr ? args.first_user + blockIdx.x : args.picked[blockIdx.x];
  const TieKey tie = args.tie_keys[user];
  auto* scores = static_cast<float*>(args.scores) + std::int64_t{blockIdx.x} * args.stride;
  bool bad = false;
  const FloatRow row{reinterpret_cast<uint4*>(scores), args.stride / 4, tie, &bad};
  start(found);
  mask(args, user, row);
  Passes<FloatRow> passes;
  const auto take = [&](int, RankKey key) {
    const int to = atomicAdd(&found.count, 1);
    if (to < kCandidates) found.keys[to] = key;
  };
  RankKey least = max(passes.bound_of_groups(row, found.counts), RankKey{1});
  if (bad) *args.not_finite = 1;
  passes.collect(row, least, take);
  __syncthreads();
  if (found.count > kCandidates) {
    start(found);
    least = kth_greatest<RankKey>(64, found.counts, [&](RankKey tried) {
      int count = 0;
      passes.collect(row, max(tried, least), [&](int, RankKey) { ++count; });
      return count;
    });
    passes.collect(row, least, take);
    __syncthreads();
  }
  finish_sorted(args, user, tie, found);
}

__global__ void __launch_bounds__(kSelectThreads)
    select_candidates(const __grid_constant__ SelectArgs args) {
  __shared__ Candidates found;
  const std::int64_t user = args.first_user + blockIdx.x;
  const TieKey tie = args.tie_keys[user];
  const bool zeros = args.bounds[blockIdx.x] == kAllZero;
  const float bound = zeros ? 0 : args.bounds[blockIdx.x];
  auto* scores = static_cast<std::uint16_t*>(args.scores) + std::int64_t{blockIdx.x} * args.stride;
  const HalfRow row{reinterpret_cast<uint4*>(scores), args.stride / 8, tie, zeros};
  start(found);
  if (bound < INFINITY) {
    mask(args, user, row);
    Passes<HalfRow> passes;
    const std::uint32_t reached = passes.bound_of_groups(row, found.counts);
    const std::uint32_t least =
        zeros ? max(reached, HalfRow::kLeast) : least_candidate(reached, bound);
    std::uint32_t best = 0;
    passes.collect(row, least, [&](int item, std::uint32_t order) {
      const int to = atomicAdd(&found.count, 1);
      best = max(best, order);
      if (to >= kCandidates) return;
      found.items[to] = item;
      found.scores[to] = half_of_order(order);
    });
    if (best > 0) atomicMax(&found.best, best);
    __syncthreads();
  }
  if (bound == INFINITY || found.count > kCandidates) {
    if (threadIdx.x == 0) args.left[atomicAdd(args.left_count, 1)] = static_cast<int>(user);
    return;
  }
  look_at_candidates(args, user, bound, found);
  const bool all = zeros || args.top != nullptr || found.first_count >= min(kRanks, found.count);
  if (!all) ask_for_near(bound, found);
  __syncthreads();
  score_again(args, user, all, found);
  if (all) {
    for (int c = static_cast<int>(threadIdx.x); c < found.count; c += kSelectThreads) {
      found.keys[c] = rank_key(found.orders[c], found.items[c], tie);
    }
    finish_sorted(args, user, tie, found);
    return;
  }
  count_ranks(tie, found);
  if (threadIdx.x < 4) {
    reinterpret_cast<std::uint32_t*>(args.hits + user)[threadIdx.x] = found.words[threadIdx.x];
  }
  if (threadIdx.x == 0) args.tied[user] = 0;
}

}  // namespace mf
