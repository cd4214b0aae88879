#include "datasets/bucket_sort.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

namespace mf {
namespace {

constexpr std::int64_t kMaxBuckets = 1024;          // more thrash the TLB while scattering
constexpr std::int64_t kBucketRatings = 32 * 1024;  // twice 12 bytes each: within an L2 cache
constexpr std::int64_t kRatingsPerThread = 1024;

void count_private(std::span<const std::int32_t> keys, std::span<std::int64_t> counts,
                   ThreadTeam& team) {
  const auto threads = static_cast<std::size_t>(team.size());
  const std::size_t part = (keys.size() + threads - 1) / threads;
  std::vector<std::vector<std::int64_t>> own(threads);
  team.run([&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    own[t].assign(counts.size(), 0);
    const std::size_t end = std::min((t + 1) * part, keys.size());
    for (std::size_t i = t * part; i < end; ++i) ++own[t][static_cast<std::size_t>(keys[i])];
  });
  for (const auto& one : own) {
    std::transform(one.begin(), one.end(), counts.begin(), counts.begin(), std::plus<>());
  }
}

void count_shared(std::span<const std::int32_t> keys, std::span<std::int64_t> counts,
                  ThreadTeam& team) {
  const auto size = static_cast<std::int64_t>(keys.size());
  team.for_chunks(size, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      std::atomic_ref<std::int64_t>(counts[static_cast<std::size_t>(keys[i])])
          .fetch_add(1, std::memory_order_relaxed);
    }
  });
}

}  // namespace

int useful_threads(int threads, std::int64_t count) {
  return static_cast<int>(
      std::clamp<std::int64_t>(count / kRatingsPerThread, 1, std::max(threads, 1)));
}

AlignedVector<std::int64_t> key_offsets(std::span<const std::int32_t> keys, std::int32_t n_keys,
                                        ThreadTeam& team) {
  AlignedVector<std::int64_t> offsets(static_cast<std::size_t>(n_keys) + 1, 0);
  const auto counts = std::span(offsets).subspan(1);
  // A table per thread avoids contention on popular keys, as long as the tables stay small.
  if (counts.size() * sizeof(std::int64_t) * static_cast<std::size_t>(team.size()) <=
      std::max<std::size_t>(keys.size(), 1 << 16)) {
    count_private(keys, counts, team);
  } else {
    count_shared(keys, counts, team);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

std::vector<std::int32_t> cut_rows(std::span<const std::int64_t> offsets, std::int64_t target) {
  const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
  std::vector<std::int32_t> first = {0};
  while (first.back() < rows) {
    const auto begin = static_cast<std::size_t>(first.back());
    // The last row that still ends within the target, but at least one row.
    const auto next = std::upper_bound(offsets.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                                       offsets.end(), offsets[begin] + target);
    const auto row = static_cast<std::int32_t>(next - offsets.begin()) - 1;
    first.push_back(std::max(row, first.back() + 1));
  }
  return first;
}

Buckets make_buckets(std::span<const std::int64_t> offsets) {
  const std::int64_t count = offsets.back();
  // cut_rows leaves a run up to a row short of its target: two neighbours always exceed it, so
  // there are at most 2 * count / target + 1 runs.
  const std::int64_t target = std::max(kBucketRatings, 2 * count / (kMaxBuckets - 1) + 1);
  Buckets buckets;
  buckets.first_key = cut_rows(offsets, target);
  buckets.of_key.resize(offsets.size() - 1);
  for (std::size_t b = 0; b < buckets.count(); ++b) {
    std::fill(buckets.of_key.begin() + buckets.first_key[b],
              buckets.of_key.begin() + buckets.first_key[b + 1], static_cast<std::uint16_t>(b));
  }
  return buckets;
}

void scatter_to_buckets(ConstColumns source, std::int64_t count, const Buckets& buckets,
                        std::span<const std::int64_t> offsets, MutableColumns target,
                        ThreadTeam& team) {
  // Chunk c writes bucket b from cursors[c][b] on: after the chunks before it.
  const std::int64_t chunk = std::max<std::int64_t>(count / (4 * team.size()) + 1, 1 << 14);
  std::vector<std::vector<std::int64_t>> cursors(
      static_cast<std::size_t>((count + chunk - 1) / chunk));
  team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> counts(buckets.count(), 0);
    for (std::int64_t i = begin; i < end; ++i) {
      ++counts[buckets.of_key[static_cast<std::size_t>(source.key[i])]];
    }
    cursors[static_cast<std::size_t>(begin / chunk)] = std::move(counts);
  });
  for (std::size_t b = 0; b < buckets.count(); ++b) {
    std::int64_t at = offsets[static_cast<std::size_t>(buckets.first_key[b])];
    for (auto& cursor : cursors) at += std::exchange(cursor[b], at);
  }
  team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    auto& cursor = cursors[static_cast<std::size_t>(begin / chunk)];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t key = source.key[i];
      const std::int64_t to = cursor[buckets.of_key[static_cast<std::size_t>(key)]]++;
      target.key[to] = key;
      target.other[to] = source.other[i];
      target.value[to] = source.value[i];
    }
  });
}

}  // namespace mf
