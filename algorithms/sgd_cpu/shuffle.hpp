// Exactly uniform random orders of arrays larger than the cache (Rao 1961, Sandelius 1962): every
// element draws a bucket, elements are scattered into the buckets, and each bucket, which fits the
// cache, is shuffled separately (Fisher-Yates). Given the buckets' sizes every arrangement is
// equally likely, and the random numbers belong to places, not to threads: the order depends only
// on (count, seed, stream).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "base/threads.hpp"

namespace mf::sgd_cpu {

// How `count` elements are cut.
struct ShufflePlan {
  std::int64_t count = 0;
  std::int64_t chunk = 0;  // elements that share a stream of bucket draws
  std::int64_t chunks = 0;
  std::int64_t buckets = 0;  // a power of two, at most 2^12
};
ShufflePlan plan_shuffle(std::int64_t count);

// Bucket numbers of the elements of one chunk, five of up to 12 bits from each random word.
class BucketDraws {
 public:
  BucketDraws(const ShufflePlan& plan, std::uint64_t seed, std::uint64_t stream, std::int64_t chunk)
      : rng_(seed, (stream << 32) | static_cast<std::uint64_t>(chunk)),
        mask_(static_cast<std::uint64_t>(plan.buckets) - 1) {}
  std::int64_t next() {
    if (left_ == 0) {
      word_ = rng_();
      left_ = 5;
    }
    --left_;
    const std::uint64_t bucket = word_ & mask_;
    word_ >>= 12;
    return static_cast<std::int64_t>(bucket);
  }

 private:
  Rng rng_;
  std::uint64_t mask_;
  std::uint64_t word_ = 0;
  int left_ = 0;
};

// The place of each chunk's elements of each bucket: offsets[chunk * buckets + bucket]; and in the
// last row the buckets' ends.
std::vector<std::int64_t> bucket_offsets(const ShufflePlan& plan, std::uint64_t seed,
                                         std::uint64_t stream, ThreadTeam& team);

template <class T>
void fisher_yates(T* first, std::int64_t count, Rng& rng) {
  for (std::int64_t i = count - 1; i > 0; --i) {
    const auto j = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(i) + 1));
    std::swap(first[i], first[j]);
  }
}

// Writes source(0), ..., source(count - 1) to `to` in uniformly random order.
template <class T, class Source>
void shuffle_into(T* to, std::int64_t count, const Source& source, std::uint64_t seed,
                  std::uint64_t stream, ThreadTeam& team) {
  const ShufflePlan plan = plan_shuffle(count);
  std::vector<std::int64_t> offsets = bucket_offsets(plan, seed, stream, team);
  team.for_each(plan.chunks, 1, [&](std::int64_t chunk) {
    std::int64_t* cursor = offsets.data() + chunk * plan.buckets;
    BucketDraws draws(plan, seed, stream, chunk);
    const std::int64_t stop = std::min(count, (chunk + 1) * plan.chunk);
    for (std::int64_t i = chunk * plan.chunk; i < stop; ++i) to[cursor[draws.next()]++] = source(i);
  });
  const std::int64_t* ends = offsets.data() + plan.chunks * plan.buckets;
  team.for_each(plan.buckets, 1, [&](std::int64_t b) {
    const std::int64_t first = b == 0 ? 0 : ends[b - 1];
    Rng rng(~seed, (stream << 32) | static_cast<std::uint64_t>(b));
    fisher_yates(to + first, ends[b] - first, rng);
  });
}

}  // namespace mf::sgd_cpu
