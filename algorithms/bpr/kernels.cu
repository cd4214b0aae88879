// The triples of an epoch on the device, by the rule of rule.hpp. kLanes lanes, as few as just hold
// a row in kWords words of 16 bytes each, take a tile of kSets sets of kLanes triples; a warp has
// 32 / kLanes such groups. Each lane draws one triple of a set: kLanes searches go on at once. Then
// the group works the set off, lanes over factors: rows are loaded a triple before they are used,
// and an update's changes are added atomically, 16 bytes at a time, so no update is lost.
//
// bpr: a random pair a triple; p_u, q_i and q_j are read and added to, 6 rows a triple. bpr_tiled:
// place t of the pairs, by user, gives the user of triple t, who draws one of its pairs. p_u stays
// in fp32 registers until the user changes, once in a tile or more, and only rows of Q are read and
// added to: 4 a triple, 1024 bytes at f = 128 in fp16. Tiles come in a random order. README.md has
// the ceilings.
#include <cuda_runtime.h>

#include <algorithm>

#include "algorithms/bpr/kernels.hpp"
#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/row_shape.hpp"
#include "algorithms/core/cuda/ratings/row_words.cuh"
#include "algorithms/core/random.hpp"

namespace mf::bpr {
namespace {

using cuda::Rounder;
using cuda::RowShare;
using cuda::sum_over_lanes;

using Step = sgd::Step<float>;

// Items j of a pair: the one that was drawn; the one that WARP searches; many, each a Pull.
enum class Kind { one, warp, many };

constexpr int kThreads = 128;
constexpr int kAhead = 4;  // rows of Kind::many that are loaded together
constexpr int kTile = 32;  // triples
constexpr unsigned kAll = 0xffffffff;

// A launch, the same for all of its threads.
struct Epoch {
  Arrays a;
  Step step;
  std::uint64_t seed;
  std::int64_t number;
  std::int64_t tiles;
  Permutation order;
  std::int32_t factors;
  Negatives negatives;
  bool stochastic, logistic;
  float alpha;
  std::int64_t max_tries;
  std::int32_t per_pair;
  bool cosine;
  float margin, share;
};

__device__ Rng rng_of(const Epoch& e, std::int64_t t, std::int64_t tries = 0) {
  return bpr::rng_of(e.seed, e.a.pairs.count, e.number, t, tries);
}

template <bool kTiled>
__device__ Triple draw(const Epoch& e, std::int64_t t) {
  Triple triple{kNone, 0, kNone, 0};
  const Pairs& pairs = e.a.pairs;
  if (t >= pairs.count) return triple;
  Rng rng = rng_of(e, t);
  std::int64_t at = kTiled ? t : below(rng, pairs.count);
  triple.user = pairs.users[at];
  const Row row = row_of(pairs, triple.user);
  if (kTiled) at = row.items - pairs.items + below(rng, row.count);
  triple.item = pairs.items[at];
  if (pairs.values != nullptr) triple.value = pairs.values[at];
  triple.other = draw_other(pairs, row, e.negatives, rng);
  return triple;
}

// For a triple of the group, which lane `from` has, the rows as they were when it was fetched.
// `other` below 0: no such row.
template <class Share, int kLanes, Kind kKind, bool kTiled>
struct Fetched {
  std::int32_t item, other;
  Share p, q_item, q_other;  // unloaded ones take no registers

  __device__ void fetch(const Epoch& e, const Triple& own, int from, int member, int words) {
    item = __shfl_sync(kAll, own.item, from, kLanes);
    other = __shfl_sync(kAll, own.other, from, kLanes);
    q_item.load(e.a.q, item, member, words);
    if constexpr (kKind == Kind::one) q_other.load(e.a.q, max(other, 0), member, words);
    if constexpr (!kTiled) {
      p.load(e.a.p, max(__shfl_sync(kAll, own.user, from, kLanes), 0), member, words);
    }
  }
};

// p_u of a group: in fp32, and as it was loaded.
template <class Share>
struct UserRow {
  std::int32_t user = kNone;
  Share raw;
  float values[Share::kValues];

  __device__ void take(std::int32_t next, const Share& row) {
    user = next;
    raw = row;
    raw.unpack(values);
  }
  __device__ void give_back(void* rows, int member, int words, Rounder& rounder) {
    if (user >= 0) raw.add_change(rows, user, member, words, values, rounder);
    user = kNone;
  }
};

// Two chains sum the products.
template <int kValues>
__device__ float dot(const float (&x)[kValues], const float (&y)[kValues]) {
  float sums[2] = {};
#pragma unroll
  for (int k = 0; k < kValues; ++k) sums[k % 2] = fmaf(x[k], y[k], sums[k % 2]);
  return sums[0] + sums[1];
}

template <class Share, int kLanes>
struct Group {
  static constexpr int kValues = Share::kValues;
  const Epoch& e;
  int member, words;
  Rounder rounder;
  UserRow<Share> user;

  __device__ void move(const Triple& triple, const Share& item, const Share& other,
                       float (&q_item)[kValues], float (&q_other)[kValues],
                       const Gains<float>& gain) {
    const float a = e.step.rate * gain.item;
    const float b = e.step.rate * gain.other;
    float(&p)[kValues] = user.values;
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      const float p_old = p[k];
      p[k] = stepped_user(p_old, q_item[k], q_other[k], a, b, e.step.shrink_p);
      q_item[k] = sgd::stepped(q_item[k], p_old, a, e.step.shrink_q);
      q_other[k] = sgd::stepped(q_other[k], p_old, b, e.step.shrink_q);
    }
    if (member == 0) p[0] = 1;
    rounder.expect(a - b);
    item.add_change(e.a.q, triple.item, member, words, q_item, rounder);
    other.add_change(e.a.q, triple.other, member, words, q_other, rounder);
  }

  // bpr and logistic. Groups without a triple stay with the warp, and change nothing.
  __device__ void update(const Triple& triple, const Share& item, const Share& other) {
    float q_item[kValues], q_other[kValues];
    item.unpack(q_item);
    other.unpack(q_other);
    Gains<float> gain;
    if (e.logistic) {
      const float x_item = sum_over_lanes<kLanes>(dot(user.values, q_item));
      const float x_other = sum_over_lanes<kLanes>(dot(user.values, q_other));
      gain = gains<Loss::logistic>(x_item, x_other, e.alpha * triple.value);
    } else {
      const float x = dot(user.values, q_item) - dot(user.values, q_other);
      gain = gains<Loss::bpr>(sum_over_lanes<kLanes>(x), 0.0F, 0.0F);
    }
    if (triple.other >= 0) move(triple, item, other, q_item, q_other, gain);
  }

  // For warp: draws on until an item comes too close, kLanes draws at a time, one a lane.
  __device__ void search(Triple triple, std::int64_t t, const Share& item) {
    float q_item[kValues], q_other[kValues];
    item.unpack(q_item);
    const float x_item = sum_over_lanes<kLanes>(dot(user.values, q_item));
    const Row row = row_of(e.a.pairs, max(triple.user, 0));
    Share other{};
    std::int64_t tries = triple.other >= 0 ? 0 : e.max_tries;
    bool found = false;
    while (__any_sync(kAll, !found && tries < e.max_tries)) {
      std::int32_t drawn = triple.other;
      const std::int64_t own = tries + member;
      if (!found && own > 0 && own < e.max_tries) {
        Rng rng = rng_of(e, t, own);
        drawn = draw_other(e.a.pairs, row, e.negatives, rng);
      }
      for (int from = 0; from < kLanes; ++from) {
        const std::int32_t next = max(__shfl_sync(kAll, drawn, from, kLanes), 0);
        const bool looks = !found && tries < e.max_tries;
        if (!__any_sync(kAll, looks)) break;
        Share row_of_next;
        row_of_next.load(e.a.q, next, member, words);
        float values[kValues];
        row_of_next.unpack(values);
        const float x_other = sum_over_lanes<kLanes>(dot(user.values, values));
        if (!looks) continue;
        ++tries;
        if (x_item - x_other >= kMargin) continue;
        found = true;
        triple.other = next;
        other = row_of_next;
      }
    }
    if (!found) return;
    other.unpack(q_other);
    const float weight = rank_weight(e.a.pairs.n_items - row.count, tries);
    move(triple, item, other, q_item, q_other, {weight, -weight});
  }

  // ccl, and bpr with several items j: kLanes items are drawn at a time, one a lane, and kAhead
  // rows are loaded at a time. An item that comes twice among these moves by its old values.
  __device__ void pull(const Triple& triple, std::int64_t t, const Share& item) {
    const float(&p)[kValues] = user.values;
    const bool lives = triple.other >= 0;
    const Row row = row_of(e.a.pairs, max(triple.user, 0));
    float q_item[kValues], sum[kValues] = {};
    item.unpack(q_item);
    const float x_item = sum_over_lanes<kLanes>(dot(p, q_item));
    float of_user = 0, of_item = 0;
    Pull<float> of_pair;
    if (e.cosine) {
      of_user = sum_over_lanes<kLanes>(dot(p, p));
      of_item = sum_over_lanes<kLanes>(dot(q_item, q_item));
      of_pair = cosine_pull(x_item, of_user, of_item, 1.0F);
    }
    float of_pulls = of_pair.user;
    for (std::int32_t first = 0; first < e.per_pair; first += kLanes) {
      std::int32_t drawn = triple.other;
      const std::int32_t own = first + member;
      if (lives && own > 0 && own < e.per_pair) {
        Further random(e.seed, e.a.pairs.count, e.number, t, own);
        drawn = draw_other(e.a.pairs, row, e.negatives, random);
      }
      for (int from = 0; from < kLanes && first + from < e.per_pair; from += kAhead) {
        Share rows[kAhead];
        std::int32_t others[kAhead];
        float x[kAhead], square[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          others[k] = max(__shfl_sync(kAll, drawn, (from + k) % kLanes, kLanes), 0);
          rows[k].load(e.a.q, others[k], member, words);
        }
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          float q[kValues];
          rows[k].unpack(q);
          x[k] = sum_over_lanes<kLanes>(dot(p, q));
          square[k] = e.cosine ? sum_over_lanes<kLanes>(dot(q, q)) : 0.0F;
        }
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
          if (!lives || from + k >= kLanes || first + from + k >= e.per_pair) continue;
          Pull<float> of_other;
          float shrink = e.step.shrink_q;
          if (e.cosine) {
            of_other = cosine_pull(x[k], of_user, square[k], -e.share, e.margin);
            if (of_other.gain == 0) continue;
          } else {
            of_other.gain = -e.share * sigmoid(x[k] - x_item);
            of_pair.gain -= of_other.gain;
            shrink *= e.share;
          }
          of_pulls += of_other.user;
          take_pull(rows[k], others[k], of_other, shrink, sum);
        }
      }
    }
    if (!lives) return;
    take_pull(item, triple.item, of_pair, e.step.shrink_q, sum);
    const float shrink = e.step.rate * of_pulls + e.step.shrink_p;
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      user.values[k] = sgd::stepped(p[k], sum[k], e.step.rate, shrink);
    }
    if (member == 0 && !e.cosine) user.values[0] = 1;
  }

  // The row moves, and the sum has what it pulls.
  __device__ void take_pull(const Share& row, std::int32_t index, const Pull<float>& pull,
                            float shrink, float (&sum)[kValues]) {
    const float gain = e.step.rate * pull.gain;
    float q[kValues];
    row.unpack(q);
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      sum[k] = fmaf(pull.gain, q[k], sum[k]);
      q[k] = sgd::stepped(q[k], user.values[k], gain, e.step.rate * pull.row + shrink);
    }
    rounder.expect(gain);
    row.add_change(e.a.q, index, member, words, q, rounder);
  }
};

// Blocks of a multiprocessor whose registers it must hold, if rows are short.
constexpr int least_blocks(int words) { return words == 1 ? 5 : 1; }

template <class T, int kLanes, int kWords, Kind kKind, bool kTiled>
__global__ void __launch_bounds__(kThreads, least_blocks(kWords)) epoch_kernel(const Epoch e) {
  using Share = RowShare<T, kLanes, kWords>;
  constexpr int kSets = kTile / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t groups = std::int64_t{gridDim.x} * blockDim.x / kLanes;
  const auto noise = static_cast<std::uint32_t>(mix64(e.seed + e.number));
  Group<Share, kLanes> group{
      e, lane % kLanes, Share::words(e.factors),
      Rounder{noise + 0x9E3779B9U * static_cast<std::uint32_t>(thread), e.stochastic}};
  const int member = group.member;
  const int words = group.words;

  // The places of the next kLanes turns' tiles are computed at once, one a lane.
  const std::int64_t group_of_warp = thread / kLanes % (32 / kLanes);
  const auto goes_on = [&](std::int64_t slot) { return slot - group_of_warp < e.tiles; };
  for (std::int64_t slot = thread / kLanes; goes_on(slot); slot += groups * kLanes) {
    const std::int64_t ahead_slot = slot + member * groups;
    const std::int64_t ahead_tile = ahead_slot < e.tiles ? e.order(ahead_slot) : e.tiles;
#pragma unroll 1
    for (int turn = 0; turn < kLanes && goes_on(slot + turn * groups); ++turn) {
      const std::int64_t tile = __shfl_sync(kAll, ahead_tile, turn, kLanes);
#pragma unroll 1
      for (int set = 0; set < kSets; ++set) {
        const std::int64_t begin = tile * kTile + set * kLanes;
        const Triple own = draw<kTiled>(e, begin + member);
        using Rows = Fetched<Share, kLanes, kKind, kTiled>;
        const auto one = [&](const Rows& now, int at) {
          const Triple triple{__shfl_sync(kAll, own.user, at, kLanes), now.item, now.other,
                              e.logistic ? __shfl_sync(kAll, own.value, at, kLanes) : 0.0F};
          if (!kTiled) {
            group.user.take(triple.user, now.p);
          } else if (triple.user >= 0 && triple.user != group.user.user) {
            group.user.give_back(e.a.p, member, words, group.rounder);
            Share row;
            row.load(e.a.p, triple.user, member, words);
            group.user.take(triple.user, row);
          }
          if constexpr (kKind == Kind::warp) {
            group.search(triple, begin + at, now.q_item);
          } else if constexpr (kKind == Kind::many) {
            group.pull(triple, begin + at, now.q_item);
          } else {
            group.update(triple, now.q_item, now.q_other);
          }
          if (!kTiled) group.user.give_back(e.a.p, member, words, group.rounder);
        };
        Rows even, odd;
        even.fetch(e, own, 0, member, words);
#pragma unroll 1
        for (int at = 0; at < kLanes; at += 2) {
          odd.fetch(e, own, at + 1, member, words);
          one(even, at);
          if (at + 2 < kLanes) even.fetch(e, own, at + 2, member, words);
          one(odd, at + 1);
        }
      }
      if (kTiled) group.user.give_back(e.a.p, member, words, group.rounder);
    }
  }
}

template <class T, class Shape, Kind kKind, bool kTiled>
void launch_kernel(const Pass& pass) {
  constexpr int kLanes = Shape::kLanes;
  const auto kernel = epoch_kernel<T, kLanes, Shape::kWords, kKind, kTiled>;
  static const std::int64_t resident = cuda::resident_blocks(kernel, kThreads);
  const Settings& settings = pass.settings;
  const std::int64_t tiles = (pass.arrays.pairs.count + kTile - 1) / kTile;
  const std::int64_t lanes = pass.workers * kLanes;
  const int threads = cuda::whole_warps(lanes, kThreads);
  const unsigned blocks = cuda::blocks_for(
      tiles, threads / kLanes, std::min(resident, std::max<std::int64_t>(1, lanes / kThreads)));
  if (blocks == 0) return;
  const Epoch epoch = {pass.arrays,
                       pass.step,
                       pass.seed,
                       pass.epoch,
                       tiles,
                       epoch_order(tiles, pass.seed, pass.epoch),
                       settings.factors,
                       settings.negatives,
                       settings.stochastic,
                       settings.loss == Loss::logistic,
                       static_cast<float>(settings.alpha),
                       settings.max_tries,
                       static_cast<std::int32_t>(settings.per_pair),
                       settings.cosine(),
                       static_cast<float>(settings.margin),
                       settings.share()};
  kernel<<<blocks, threads, 0, pass.stream>>>(epoch);
  MF_CUDA_LAUNCHED("bpr epoch");
}

template <class T>
__global__ void set_first_kernel(T* rows, std::int64_t stride, std::int64_t count, float value) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row < count) rows[row * stride] = static_cast<T>(value);
}

// A row a warp.
__global__ void unit_rows_kernel(const float* from, std::int64_t stride, std::int64_t count,
                                 float* to) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= count) return;
  float square = 0;
  for (std::int64_t k = threadIdx.x % 32; k < stride; k += 32) {
    square = fmaf(from[row * stride + k], from[row * stride + k], square);
  }
  square = sum_over_lanes<32>(square);
  const float scale = square > 0 ? 1 / sqrtf(square) : 0.0F;
  for (std::int64_t k = threadIdx.x % 32; k < stride; k += 32) {
    to[row * stride + k] = scale * from[row * stride + k];
  }
}

}  // namespace

void launch_epoch(const Pass& pass) {
  const Settings& settings = pass.settings;
  cuda::with_storage_type(settings.storage, [&]<class T>() {
    const std::int64_t words = storage_words(settings.storage, settings.factors);
    cuda::with_group_row<T, kMaxFactorsDevice>(words, [&](auto shape) {
      using Shape = decltype(shape);
      const auto launch = [&]<Kind kKind>() {
        if (settings.tiled) return launch_kernel<T, Shape, kKind, true>(pass);
        if constexpr (sizeof(T) == sizeof(float)) launch_kernel<T, Shape, kKind, false>(pass);
      };
      if (settings.many()) return launch.template operator()<Kind::many>();
      if (settings.loss == Loss::warp) return launch.template operator()<Kind::warp>();
      launch.template operator()<Kind::one>();
    });
  });
}

void set_first(Storage storage, std::int32_t factors, void* rows, std::int64_t count, float value,
               cudaStream_t stream) {
  const unsigned blocks = cuda::blocks_for(count, kThreads);
  if (blocks == 0) return;
  cuda::with_storage_type(storage, [&]<class T>() {
    set_first_kernel<<<blocks, kThreads, 0, stream>>>(
        static_cast<T*>(rows), storage_stride(storage, factors), count, value);
  });
  MF_CUDA_LAUNCHED("bpr set_first");
}

void unit_rows(const float* from, std::int64_t stride, std::int64_t count, float* to,
               cudaStream_t stream) {
  const unsigned blocks = cuda::blocks_for(count, kThreads / 32);
  if (blocks == 0) return;
  unit_rows_kernel<<<blocks, kThreads, 0, stream>>>(from, stride, count, to);
  MF_CUDA_LAUNCHED("bpr unit_rows");
}

}  // namespace mf::bpr
