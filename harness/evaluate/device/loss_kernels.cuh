// A sum over the ratings of a part: of their errors, or of any other term of a rating and its p .
// q.
//
// fused_loss. The ratings are sorted by user. A warp takes a contiguous chunk of them, 32 at a
// time: every lane loads one rating, and then subgroups of kLanes lanes compute the products of
// their lanes' ratings, 8 after another. A lane holds kVectors pieces of the row of p, which stays
// in registers while the user stays the same, and loads the rows of q of kAhead ratings before it
// uses the first. The 8 partial products of each lane are added across lanes by a transposing
// butterfly, which leaves every lane with the product of the rating it loaded: the prediction and
// its error are then computed once per rating, in parallel. Batches in which the user changes take
// a separate path. Chunks are cut by ratings, so a user with many makes no tail; the cut depends
// only on the number of ratings, so the sums are the same on every run and every device.
//
// Traffic of a rating: 12 bytes of its triple from device memory, 4f bytes of q from the L2 cache
// if Q fits it (17,770 items at f = 128: 9.1 MB); rows of p once per user and subgroup. Netflix (99
// M ratings), f = 128: 50.7 GB of q; at the 8.7 TB/s measured for gathers from such a table 5.8 ms,
// the triples 0.3 ms.
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/core/model.hpp"
#include "harness/evaluate/device/reduction.cuh"
#include "harness/evaluate/prediction.hpp"

namespace mf {

// A part in device memory, sorted by user.
struct DevicePart {
  const std::int32_t* users = nullptr;
  const std::int32_t* items = nullptr;
  const float* values = nullptr;
  std::int64_t count = 0;
};

struct LossArgs {
  FactorView model;
  DevicePart part;
  const std::uint32_t* known_users = nullptr;  // bit sets
  const std::uint32_t* known_items = nullptr;
  PredictionRule rule;
  double alpha = 0;  // of ImplicitTerm
  // For DrawTerm: the mean prediction of each rating of the part, and the share of this draw in it.
  float* means = nullptr;
  float share = 0;
};

inline constexpr int kLossThreads = 128;
inline constexpr unsigned kFullWarp = 0xffffffffU;

__device__ inline bool is_known(const std::uint32_t* bits, std::int32_t index) {
  return (__ldg(bits + (index >> 5)) >> (index & 31) & 1U) != 0;
}

__device__ inline RatingSides load_sides(const LossArgs& args, std::int32_t user,
                                         std::int32_t item) {
  RatingSides sides;
  sides.user_known = is_known(args.known_users, user);
  sides.item_known = is_known(args.known_items, item);
  if (args.rule.biased) {
    sides.user_bias = __ldg(args.model.user_bias + user * args.model.user_bias_stride);
    sides.item_bias = __ldg(args.model.item_bias + item * args.model.item_bias_stride);
  }
  return sides;
}

// Read once, so it must not displace Q from the caches.
__device__ inline Rating load_rating(const DevicePart& part, std::int64_t i) {
  return {__ldcs(part.users + i), __ldcs(part.items + i), __ldcs(part.values + i)};
}

__device__ inline float multiply_add(float a, float b, float sum) { return fmaf(a, b, sum); }
__device__ inline float multiply_add(const float4& a, const float4& b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// How a row lies on the lanes of a subgroup: lane l has the pieces l, l + kLanes, ... A piece is
// one float, or four if rows are aligned to 16 bytes. kTight: only the last of a lane's pieces may
// lie beyond the row.
template <int kWidthOfPiece, int kLanesOfGroup, int kVectorsOfLane, bool kIsTight>
struct RowLayout {
  static constexpr int kWidth = kWidthOfPiece;
  static constexpr int kLanes = kLanesOfGroup;
  static constexpr int kVectors = kVectorsOfLane;
  static constexpr bool kTight = kIsTight;
  using Piece = std::conditional_t<kWidth == 4, float4, float>;
  // Rows loaded before the first is used: as many as fill 32 registers.
  static constexpr int kFit = 32 / (kWidth * kVectors);
  static constexpr int kAhead = kFit >= 8 ? 8 : kFit >= 4 ? 4 : kFit >= 2 ? 2 : 1;
  static_assert(kLanes == 8 || kLanes == 16 || kLanes == 32);
};

// The pieces of one row that a lane holds; zero beyond the row's end.
template <class Layout>
struct RowPieces {
  typename Layout::Piece piece[Layout::kVectors];

  __device__ void load(const float* row, int lane_in_group, int pieces_of_row) {
    const auto* from = reinterpret_cast<const typename Layout::Piece*>(row) + lane_in_group;
#pragma unroll
    for (int v = 0; v < Layout::kVectors; ++v) {
      const bool inside = (Layout::kTight && v + 1 < Layout::kVectors) ||
                          lane_in_group + v * Layout::kLanes < pieces_of_row;
      piece[v] = inside ? __ldg(from + v * Layout::kLanes) : typename Layout::Piece{};
    }
  }

  __device__ float dot(const RowPieces& other) const {
    float sum = 0;
#pragma unroll
    for (int v = 0; v < Layout::kVectors; ++v) sum = multiply_add(piece[v], other.piece[v], sum);
    return sum;
  }
};

// From 8 values on each of kLanes lanes: in lane l the sum over the subgroup of value[l % 8].
template <int kLanes>
__device__ float transpose_sum(float (&value)[8], int lane) {
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {
    const bool upper = (lane & half) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float keep = upper ? value[i + half] : value[i];
      const float send = upper ? value[i] : value[i + half];
      value[i] = keep + __shfl_xor_sync(kFullWarp, send, half);
    }
  }
  float sum = value[0];
#pragma unroll
  for (int step = 8; step < kLanes; step *= 2) sum += __shfl_xor_sync(kFullWarp, sum, step);
  return sum;
}

// The user whose row of p a subgroup holds.
template <class Layout>
struct CurrentUser {
  std::int32_t user = -1;
  RowPieces<Layout> row;

  __device__ void move_to(std::int32_t next, const FactorView& model, int lane) {
    if (next == user) return;
    user = next;
    row.load(model.p + user * model.p_stride, lane % Layout::kLanes,
             model.factors / Layout::kWidth);
  }
};

// p . q of the rating `mine` of every lane of the warp, all of one user with the row p: no branch
// holds up the loads of q.
template <class Layout>
__device__ float products_of_user(const FactorView& model, const Rating& mine, int lane,
                                  const RowPieces<Layout>& p) {
  constexpr int kLanes = Layout::kLanes;
  constexpr int kAhead = Layout::kAhead;
  const int lane_in_group = lane % kLanes;
  const int pieces = model.factors / Layout::kWidth;
  float product = 0;
#pragma unroll 1
  for (int first = 0; first < kLanes; first += 8) {
    float partial[8];
#pragma unroll
    for (int j = 0; j < 8; j += kAhead) {
      RowPieces<Layout> q[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const std::int32_t item = __shfl_sync(kFullWarp, mine.item, first + j + a, kLanes);
        q[a].load(model.q + item * model.q_stride, lane_in_group, pieces);
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) partial[j + a] = p.dot(q[a]);
    }
    const float sum = transpose_sum<kLanes>(partial, lane);
    if (lane_in_group / 8 == first / 8) product = sum;
  }
  return product;
}

// The same if users may change on the way: fewer such batches, so shorter code.
template <class Layout>
__device__ float products_of_users(const FactorView& model, const Rating& mine, int lane,
                                   CurrentUser<Layout>& current) {
  constexpr int kLanes = Layout::kLanes;
  constexpr int kAhead = Layout::kAhead;
  const int lane_in_group = lane % kLanes;
  const int pieces = model.factors / Layout::kWidth;
  float product = 0;
#pragma unroll 1
  for (int j = 0; j < kLanes; j += kAhead) {
    RowPieces<Layout> q[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const std::int32_t item = __shfl_sync(kFullWarp, mine.item, j + a, kLanes);
      q[a].load(model.q + item * model.q_stride, lane_in_group, pieces);
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const std::int32_t user = __shfl_sync(kFullWarp, mine.user, j + a, kLanes);
      current.move_to(user, model, lane);
      float sum = current.row.dot(q[a]);
#pragma unroll
      for (int step = 1; step < kLanes; step *= 2) sum += __shfl_xor_sync(kFullWarp, sum, step);
      if (lane_in_group == j + a) product = sum;
    }
  }
  return product;
}

template <class Layout>
__device__ float batch_products(const FactorView& model, const Rating& mine, int lane,
                                CurrentUser<Layout>& current) {
  const std::int32_t user = __shfl_sync(kFullWarp, mine.user, 0);
  if (!__all_sync(kFullWarp, mine.user == user)) {
    return products_of_users(model, mine, lane, current);
  }
  current.move_to(user, model, lane);
  return products_of_user(model, mine, lane, current.row);
}

struct RatingRange {
  std::int64_t begin;
  std::int64_t end;  // not after `begin`: none
};

// Warp w takes the ratings [w * chunk, (w + 1) * chunk).
__device__ inline RatingRange chunk_of_warp(std::int64_t chunk, std::int64_t count) {
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * (kLossThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  const std::int64_t begin = warp * chunk;
  return {begin, min(begin + chunk, count)};
}

// The summed term of each rating, the i-th of the part: its error.
struct RatingTerm {
  RatingSides sides;

  // Before the product is known.
  __device__ void load(const LossArgs& args, const Rating& mine) {
    sides = load_sides(args, mine.user, mine.item);
  }
  __device__ void add(LossSums& sums, const LossArgs& args, const Rating& mine, float dot,
                      std::int64_t) const {
    add_error(sums, rating_error(args.rule, sides, mine.value, dot));
  }
};

// The same of the mean of the draws so far, this one taken into it.
struct DrawTerm : RatingTerm {
  __device__ void add(LossSums& sums, const LossArgs& args, const Rating& mine, float dot,
                      std::int64_t i) const {
    const float mean = add_draw(args.means[i], args.share, score_rating(args.rule, sides, dot));
    args.means[i] = mean;
    add_error(sums,
              static_cast<double>(mine.value) - static_cast<double>(clip_rating(args.rule, mean)));
  }
};

// Or the term of an observed pair in the objective of implicit feedback: (1 + w)(1 - s)^2 - s^2.
struct ImplicitTerm {
  __device__ void load(const LossArgs&, const Rating&) {}
  __device__ void add(LossSums& sums, const LossArgs& args, const Rating& mine, float dot,
                      std::int64_t) const {
    if (!(mine.value > 0)) return;
    const auto s = static_cast<double>(dot);
    const double weight = args.alpha * static_cast<double>(mine.value);
    sums.square += (1 + weight) * (1 - s) * (1 - s) - s * s;
  }
};

// No bound on the blocks per multiprocessor: given one, ptxas hoists loads until it spills (72
// registers at f = 128 without, none spilled at any f).
//
// partial has one element per block.
template <class Layout, class Term = RatingTerm>
__global__ void __launch_bounds__(kLossThreads)
    fused_loss(const __grid_constant__ LossArgs args, std::int64_t chunk,
               LossSums* __restrict__ partial) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto [begin, end] = chunk_of_warp(chunk, args.part.count);
  LossSums sums;
  if (begin < end) {
    CurrentUser<Layout> current;
    Rating next = load_rating(args.part, min(begin + lane, end - 1));
#pragma unroll 1
    for (std::int64_t i = begin; i < end; i += 32) {
      const Rating mine = next;  // beyond the end: the last rating once more, not added
      next = load_rating(args.part, min(i + 32 + lane, end - 1));
      Term term;
      term.load(args, mine);
      const float dot = batch_products(args.model, mine, lane, current);
      if (i + lane < end) term.add(sums, args, mine, dot, i + lane);
    }
  }
  store_block_sum<kLossThreads>(sums, partial);
}

// The same for rows too long for registers: a warp takes one rating after another.
template <class Term = RatingTerm>
__global__ void __launch_bounds__(kLossThreads)
    long_row_loss(const __grid_constant__ LossArgs args, std::int64_t chunk,
                  LossSums* __restrict__ partial) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto [begin, end] = chunk_of_warp(chunk, args.part.count);
  LossSums sums;
  for (std::int64_t i = begin; i < end; ++i) {
    const Rating rating = load_rating(args.part, i);
    const float* p = args.model.p + rating.user * args.model.p_stride;
    const float* q = args.model.q + rating.item * args.model.q_stride;
    float dot = 0;
#pragma unroll 8
    for (int k = lane; k < args.model.factors; k += 32) dot = fmaf(__ldg(p + k), __ldg(q + k), dot);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(kFullWarp, dot, step);
    if (lane == 0) {
      Term term;
      term.load(args, rating);
      term.add(sums, args, rating, dot, i);
    }
  }
  store_block_sum<kLossThreads>(sums, partial);
}

// Ratings of a warp's chunk: only by their number, so that the sums are the same on every device.
// Small parts are spread over many warps; large ones come in chunks small enough that the last
// blocks to end are a small share of the whole.
inline std::int64_t loss_chunk(std::int64_t count) {
  constexpr std::int64_t kWarps = 8192;
  constexpr std::int64_t kLargest = 2048;
  const std::int64_t even = (count + kWarps - 1) / kWarps;
  return even < kLargest ? (even + 31) / 32 * 32 : kLargest;
}

// Blocks whose warps take all chunks.
inline std::int64_t loss_blocks(std::int64_t count) {
  const std::int64_t warps = (count + loss_chunk(count) - 1) / loss_chunk(count);
  return (warps * 32 + kLossThreads - 1) / kLossThreads;
}

inline bool has_aligned_rows(const FactorView& model) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(model.p) | reinterpret_cast<std::uintptr_t>(model.q);
  return address % 16 == 0 && model.p_stride % 4 == 0 && model.q_stride % 4 == 0 &&
         model.factors % 4 == 0;
}

}  // namespace mf
