// The best kRanks of a row of scores, a block a row.
//
// Scores are in fp32, or in fp16 with a bound on their error. Each thread takes the vectors of 16
// bytes that lie kSelectThreads apart, and the greatest score of each place in its vectors: groups
// of scores far apart, since neighbours may be alike. The kRanks-th greatest of the groups' is a
// bound that kRanks scores reach; scores that are not below it are the candidates, about 105 of
// 40,981. A second pass takes them from the spans of a thread that reach the bound.
//
// An item's rank is the number of candidates above it.
//
// fp32 (select_top): keys in place of scores, so that equal scores are no more candidates than
// others. If they do not fit, the kRanks-th greatest of all is the bound.
//
// fp16 (select_candidates): an item of the first kRanks is not below the bound by more than its
// error and the bound's. Only held-out candidates are ranked; if the errors leave open which of two
// is above, both are scored again in fp32. The errors are at first the longest row's. If the
// candidates do not fit, each item has its own: the kRanks-th greatest of the scores less their
// errors, among the items that reach the bound, is a new bound, which kRanks scores in fp32 reach.
// Items whose score and error together are not below it are the candidates. A user whose candidates
// still do not fit, or whose scores may overflow, is left to select_top. If all scores are 0, the
// upper halves of the items' places stand for them.
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
  const ScoreError* errors = nullptr;  // of each row: narrow_users
  const float* norms = nullptr;        // of items
  const ItemFacts* facts = nullptr;
  RowSource users, items;
  std::int32_t* left = nullptr;  // the users that are left to select_top
  int* left_count = nullptr;
};

struct Candidates {
  std::int32_t items[kCandidates];
  std::uint32_t orders[kCandidates];  // of scores in fp32; 0: not asked for, 1: not yet known
  float scores[kCandidates];          // in fp16
  float errors[kCandidates];          // how far the scores in fp32 may be from them
  bool held_out[kCandidates];
  int counts[64];  // kth_greatest
  int count, first_count;
  std::uint32_t best, words[4];  // best: score_order() of one that the best score reaches
};

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

// ---- rows ----

// A vector of scores is four words, each of one number or two. Numbers are searched by their order,
// a whole number that rises with them.

struct FloatRow {
  using Order = RankKey;
  using Word = RankKey;  // a key; 0 for a score that is left out
  using Score = std::uint32_t;
  static constexpr int kBits = 64, kInWord = 1;
  static constexpr std::uint32_t kMasked = kMaskedBits;

  uint4* vectors;
  int count;  // of vectors
  TieKey tie;
  int* not_finite;

  __device__ Word word(std::uint32_t bits, int item) const {
    const bool finite = (bits & kInfinityBits) != kInfinityBits;
    if (!finite && bits != kMasked) *not_finite = 1;
    return finite ? rank_key(score_order(__uint_as_float(bits)), item, tie) : kNoKey;
  }
  __device__ static Word none() { return kNoKey; }
  __device__ static Word greater(Word a, Word b) { return max(a, b); }
  // All bits of each number that is not below `least`.
  __device__ static std::uint32_t reach(Word word, Order least) {
    return word >= least ? 0xffffffffU : 0;
  }
  __device__ static RankKey number(Word word, int) { return word; }
  __device__ static Order least(Order order) { return order; }
};

__device__ inline float half_of_order(std::uint32_t order) {
  const std::uint32_t bits = order ^ ((order & 0x8000U) != 0 ? 0x8000U : 0xffffU);
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

struct HalfRow {
  using Order = std::uint32_t;
  using Word = __half2;
  using Score = std::uint16_t;
  static constexpr int kBits = 16, kInWord = 2;
  static constexpr std::uint32_t kMasked = kMaskedHalf * 0x10001U;
  static constexpr Order kLeast = 0x400;  // of a score that is not left out

  uint4* vectors;
  int count;
  TieKey tie;
  bool zeros;

  __device__ static Word as_word(std::uint32_t bits) {
    return __halves2half2(__ushort_as_half(static_cast<unsigned short>(bits)),
                          __ushort_as_half(static_cast<unsigned short>(bits >> 16)));
  }
  __device__ Word word(std::uint32_t bits, int item) const {
    if (zeros) {
      for (int i = 0; i < 2; ++i) {
        if ((bits >> 16 * i & 0xffffU) == kMaskedHalf) continue;
        // Below infinity.
        const std::uint32_t place = min(tie_place(item + i, tie) >> 17, 0x7bffU);
        bits = (bits & 0xffff0000U >> 16 * i) | place << 16 * i;
      }
    }
    return as_word(bits);
  }
  __device__ static Word none() { return as_word(kMasked); }
  __device__ static Word greater(Word a, Word b) { return __hmax2(a, b); }
  __device__ static std::uint32_t reach(Word word, Word least) { return __hge2_mask(word, least); }
  __device__ static float number(Word word, int i) {
    return __half2float(i == 0 ? __low2half(word) : __high2half(word));
  }
  __device__ static Word least(Order order) { return __float2half2_rn(half_of_order(order)); }
};

// Masks the scores that are left out and the end of the row. Sets not_finite for a score of fp32
// that is masked and not finite.
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
    score = static_cast<typename Row::Score>(Row::kMasked);
  }
  for (int i = args.n_items + t; i < args.stride; i += kSelectThreads) {
    scores[i] = static_cast<typename Row::Score>(Row::kMasked);
  }
  __syncthreads();
}

// ---- passes over a row ----

// see(item, word i of 4), for the thread's vectors from `first` to `end` of its own.
template <class Row, class See>
__device__ void for_words(const Row& row, int first, int end, See&& see) {
  for (; first < end; first += kLoads) {
    uint4 loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = (first + i) * kSelectThreads + static_cast<int>(threadIdx.x);
      const bool there = first + i < end && at < row.count;
      loaded[i] =
          there ? row.vectors[at] : uint4{Row::kMasked, Row::kMasked, Row::kMasked, Row::kMasked};
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = (first + i) * kSelectThreads + static_cast<int>(threadIdx.x);
      const std::uint32_t words[] = {loaded[i].x, loaded[i].y, loaded[i].z, loaded[i].w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int item = (4 * at + w) * Row::kInWord;
        see(item, w, row.word(words[w], item));
      }
    }
  }
}

// The order of the kRanks-th greatest of the block's numbers, of which count(x) are not below x; 0
// if there are fewer. `counts` are zeros, one a bit.
template <class Order, class Count>
__device__ Order kth_greatest(int bits, int* counts, Count&& count) {
  Order found = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    const Order tried = found | Order{1} << bit;
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
  using Order = typename Row::Order;
  using Word = typename Row::Word;

  // A first pass, by which spans are known. Returns the order of the groups' kRanks-th greatest.
  __device__ Order bound_of_groups(const Row& row, int* counts) {
    Word groups[4] = {Row::none(), Row::none(), Row::none(), Row::none()};
    own_ = (row.count + kSelectThreads - 1) / kSelectThreads;
    span_ = (own_ + kSpans * kLoads - 1) / (kSpans * kLoads) * kLoads;
    for (int s = 0; s * span_ < own_; ++s) {
      Word most = Row::none();
      for_words(row, s * span_, min(own_, (s + 1) * span_), [&](int, int w, Word word) {
        groups[w] = Row::greater(groups[w], word);
        most = Row::greater(most, word);
      });
      most_[s] = most;
    }
    return kth_greatest<Order>(Row::kBits, counts, [&](Order order) {
      const auto least = Row::least(order);
      int found = 0;
#pragma unroll
      for (int w = 0; w < 4; ++w) found += __popc(Row::reach(groups[w], least));
      return found * Row::kInWord / 32;
    });
  }

  // take(item, number) for the thread's numbers that are not below `order`.
  template <class Take>
  __device__ void collect(const Row& row, Order order, Take&& take) const {
    const auto least = Row::least(order);
    for (int s = 0; s * span_ < own_; ++s) {
      if (Row::reach(most_[s], least) == 0) continue;
      for_words(row, s * span_, min(own_, (s + 1) * span_), [&](int item, int, Word word) {
        const std::uint32_t reach = Row::reach(word, least);
        if (reach == 0) return;
#pragma unroll
        for (int i = 0; i < Row::kInWord; ++i) {
          if ((reach >> 16 * i & 1) != 0) take(item + i, Row::number(word, i));
        }
      });
    }
  }

 private:
  int own_, span_;  // vectors of the thread, and of a span
  Word most_[kSpans];
};

// ---- candidates in fp16 ----

// How far a score in fp32 may be from its fp16 number: half of the last digit and a bit more.
__device__ inline float error_of(float score, float norm, const ScoreError& error) {
  return error.slope * norm + error.base + 0.00049F * fabsf(score) + 0x1p-24F;
}

// The order of the greatest fp16 number that is not above x.
__device__ inline std::uint32_t order_below(float x) {
  const std::uint32_t bits = __half_as_ushort(__float2half_rd(x));
  return max(bits ^ ((bits & 0x8000U) != 0 ? 0xffffU : 0x8000U), HalfRow::kLeast);
}

__device__ inline void take_candidate(Candidates& found, int item, float score, float error) {
  const int to = atomicAdd(&found.count, 1);
  if (to >= kCandidates) return;
  found.items[to] = item;
  found.orders[to] = 0;
  found.scores[to] = score;
  found.errors[to] = error;
}

// The order of a score that kRanks of the found items reach in fp32.
__device__ inline std::uint32_t reached_in_fp32(Candidates& found) {
  return kth_greatest<std::uint32_t>(16, found.counts + 16, [&](std::uint32_t least) {
    int count = 0;
    for (int c = static_cast<int>(threadIdx.x); c < found.count; c += kSelectThreads) {
      count += order_below(found.scores[c] - found.errors[c]) >= least ? 1 : 0;
    }
    return count;
  });
}

// Asks for the scores in fp32 of held-out candidates and others that are too near to them; of all
// if all of the first kRanks may have one score. Returns whether it is all.
__device__ inline bool ask_for_near(Candidates& found) {
  const float least = score_of_order(found.best);
  int first = 0;
  for (int c = static_cast<int>(threadIdx.x); c < found.count; c += kSelectThreads) {
    first += found.scores[c] + found.errors[c] >= least ? 1 : 0;
  }
  if (first > 0) atomicAdd(&found.first_count, first);
  for (int h = static_cast<int>(threadIdx.x) / 32; h < found.count; h += kSelectThreads / 32) {
    if (!found.held_out[h]) continue;
    const float score = found.scores[h];
    const float error = found.errors[h];
    for (int c = static_cast<int>(threadIdx.x) % 32; c < found.count; c += 32) {
      const float apart = fabsf(found.scores[c] - score);
      if (c == h || apart > 1.001F * (error + found.errors[c])) continue;
      atomicOr(found.orders + c, 1U);
      atomicOr(found.orders + h, 1U);
    }
  }
  __syncthreads();
  return found.first_count >= min(kRanks, found.count);
}

// Scores the candidates that are asked for, or all, a warp each. The order of a sum depends only on
// the width.
__device__ inline void score_again(const SelectArgs& args, std::int64_t user, bool all,
                                   Candidates& found) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const RowSource::Row p = args.users[user];
  for (int c = static_cast<int>(threadIdx.x) / 32; c < found.count; c += kSelectThreads / 32) {
    if (!all && found.orders[c] == 0) continue;
    const RowSource::Row q = args.items[found.items[c]];
    float sum = 0;
#pragma unroll 4
    for (std::int32_t k = lane; k < args.users.width(); k += 32) sum = fmaf(p[k], q[k], sum);
    sum = warp_total(sum);
    __syncwarp();
    if (lane == 0) found.orders[c] = score_order(sum);
  }
  __syncthreads();
}

// ---- kernels ----

__device__ inline void start(Candidates& found) {
  __syncthreads();
  if (threadIdx.x < 64) found.counts[threadIdx.x] = 0;
  if (threadIdx.x < 4) found.words[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    found.count = found.first_count = 0;
    found.best = 0;
  }
  __syncthreads();
}

__device__ inline void find_held_out(const SelectArgs& args, std::int64_t user, Candidates& found) {
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < found.count; c += kSelectThreads) {
    found.held_out[c] = is_held_out(args, user, found.items[c]);
  }
  __syncthreads();
}

// A rank is the number of candidates above: for held-out candidates or, if all scores in fp32 are
// known, for all. A warp a candidate.
__device__ inline void write_ranks(const SelectArgs& args, std::int64_t user, TieKey tie, bool all,
                                   Candidates& found) {
  const int t = static_cast<int>(threadIdx.x);
  const auto key = [&](int c) { return rank_key(found.orders[c], found.items[c], tie); };
  if (t == 0) args.tied[user] = 0;
  if (args.top != nullptr && t < kRanks) args.top[user * kRanks + t] = -1;
  __syncthreads();
  for (int c = t / 32; c < found.count; c += kSelectThreads / 32) {
    if (!all && !found.held_out[c]) continue;
    int above = 0;
    int better = 0;  // without ties
    for (int other = t % 32; other < found.count; other += 32) {
      const bool known = found.orders[c] != 0 && found.orders[other] != 0;
      above += (known ? key(other) > key(c) : found.scores[other] > found.scores[c]) ? 1 : 0;
      better += found.orders[other] > found.orders[c] ? 1 : 0;
    }
    above = warp_total(above);
    better = warp_total(better);
    if (t % 32 != 0 || above >= kRanks) continue;
    if (found.held_out[c]) atomicOr(found.words + above / 32, 1U << above % 32);
    if (args.top != nullptr) args.top[user * kRanks + above] = found.items[c];
    const int last = min(kRanks, found.count) - 1;
    if (all && above == last && last > 0 && better == 0) args.tied[user] = 1;
  }
  __syncthreads();
  if (t < 4) reinterpret_cast<std::uint32_t*>(args.hits + user)[t] = found.words[t];
}

__global__ void __launch_bounds__(kSelectThreads)
    select_top(const __grid_constant__ SelectArgs args) {
  __shared__ Candidates found;
  const std::int64_t user =
      args.picked == nullptr ? args.first_user + blockIdx.x : args.picked[blockIdx.x];
  const TieKey tie = args.tie_keys[user];
  auto* scores = static_cast<float*>(args.scores) + std::int64_t{blockIdx.x} * args.stride;
  const FloatRow row{reinterpret_cast<uint4*>(scores), args.stride / 4, tie, args.not_finite};
  start(found);
  mask(args, user, row);
  Passes<FloatRow> passes;
  const auto take = [&](int item, RankKey key) {
    const int to = atomicAdd(&found.count, 1);
    if (to >= kCandidates) return;
    found.items[to] = item;
    found.orders[to] = order_of_key(key);
  };
  RankKey least = max(passes.bound_of_groups(row, found.counts), RankKey{1});
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
  }
  find_held_out(args, user, found);
  write_ranks(args, user, tie, true, found);
}

// Finds the items whose score is not below the score of `order` and, with the item's error added,
// not below `lowest`.
__device__ inline void collect_near(const SelectArgs& args, const HalfRow& row,
                                    const Passes<HalfRow>& passes, const ScoreError& error,
                                    std::uint32_t order, float lowest, Candidates& found) {
  std::uint32_t best = 0;
  passes.collect(row, order, [&](int item, float score) {
    const float own = row.zeros ? 0 : error_of(score, args.norms[item], error);
    if (score + own < lowest) return;
    best = max(best, score_order(score - own));
    take_candidate(found, item, score, own);
  });
  if (best > 0) atomicMax(&found.best, best);
  __syncthreads();
}

// All that may be among the first kRanks; `reached` is the order of a score that kRanks items
// reach.
__device__ inline void find_candidates(const SelectArgs& args, const HalfRow& row,
                                       const Passes<HalfRow>& passes, const ScoreError& error,
                                       std::uint32_t reached, Candidates& found) {
  if (row.zeros || reached < HalfRow::kLeast) {
    collect_near(args, row, passes, error, max(reached, HalfRow::kLeast), -INFINITY, found);
    return;
  }
  const float longest = __uint_as_float(args.facts->norm);
  // Scores of a lower order do not reach x, however long their rows; .0005 is for their rounding.
  const auto order_of = [&](float x) {
    const float low = x - error_of(0, longest, error);
    return order_below(low - 0.0005F * fabsf(low));
  };
  float lowest = half_of_order(reached);
  lowest -= error_of(lowest, longest, error);
  collect_near(args, row, passes, error, order_of(lowest), lowest, found);
  if (found.count <= kCandidates) return;
  start(found);
  collect_near(args, row, passes, error, reached, -INFINITY, found);
  if (found.count > kCandidates) return;
  lowest = half_of_order(reached_in_fp32(found));
  start(found);
  collect_near(args, row, passes, error, order_of(lowest), lowest, found);
}

__global__ void __launch_bounds__(kSelectThreads)
    select_candidates(const __grid_constant__ SelectArgs args) {
  __shared__ Candidates found;
  const std::int64_t user = args.first_user + blockIdx.x;
  const TieKey tie = args.tie_keys[user];
  const ScoreError error = args.errors[blockIdx.x];
  const bool zeros = error.base == kAllZero;
  auto* scores = static_cast<std::uint16_t*>(args.scores) + std::int64_t{blockIdx.x} * args.stride;
  const HalfRow row{reinterpret_cast<uint4*>(scores), args.stride / 8, tie, zeros};
  start(found);
  if (error.base < INFINITY) {
    mask(args, user, row);
    Passes<HalfRow> passes;
    const std::uint32_t reached = passes.bound_of_groups(row, found.counts);
    find_candidates(args, row, passes, error, reached, found);
  }
  if (error.base == INFINITY || found.count > kCandidates) {
    if (threadIdx.x == 0) args.left[atomicAdd(args.left_count, 1)] = static_cast<int>(user);
    return;
  }
  find_held_out(args, user, found);
  const bool all = ask_for_near(found) || zeros || args.top != nullptr;
  score_again(args, user, all, found);
  write_ranks(args, user, tie, all, found);
}

}  // namespace mf
