#include "datasets/ratings/sort/bucket_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace mf {
namespace {

constexpr std::int64_t kMaxBuckets = 1024;          // more thrash the TLB while scattering
constexpr std::int64_t kBucketRatings = 32 * 1024;  // twice 12 bytes each: within an L2 cache
constexpr std::int64_t kRatingsPerThread = 1024;

// A table a thread: popular keys are not waited for.
void count_private(View<const std::int32_t> keys, View<std::int64_t> counts, ThreadTeam& team) {
  const std::int64_t part = (keys.size() + team.size() - 1) / team.size();
  std::vector<AlignedVector<std::uint32_t>> own(static_cast<std::size_t>(team.size()));
  team.run([&](int t) {
    auto& table = own[static_cast<std::size_t>(t)];
    table.assign(static_cast<std::size_t>(counts.size()), 0);
    const std::int64_t end = std::min((t + 1) * part, keys.size());
    for (std::int64_t i = t * part; i < end; ++i) ++table[keys[i]];
  });
  team.for_chunks(counts.size(), 1 << 12, [&](std::int64_t begin, std::int64_t end) {
    for (const auto& table : own)
      for (std::int64_t key = begin; key < end; ++key) counts[key] += table[key];
  });
}

void count_shared(View<const std::int32_t> keys, View<std::int64_t> counts, ThreadTeam& team) {
  team.for_chunks(keys.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::atomic_ref<std::int64_t>(counts[keys[i]]).fetch_add(1, std::memory_order_relaxed);
    }
  });
}

// Writes ratings to their buckets by whole cache lines, which are filled beside each other first: a
// line of each column of a thousand buckets is a thousand pages each, more than a TLB holds.
class Scatter {
 public:
  // cursors[b]: where the next rating of bucket b goes.
  Scatter(std::vector<std::int64_t>& cursors, MutableColumns target)
      : cursors_(cursors), first_(cursors), lines_(std::ssize(cursors)), target_(target) {}

  void operator()(ConstColumns source, std::int64_t begin, std::int64_t end,
                  const AlignedVector<std::uint16_t>& bucket_of) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t key = source.key[i];
      const std::uint16_t bucket = bucket_of[key];
      const std::int64_t to = cursors_[bucket]++;
      Line& line = lines_[bucket];
      line.key[to % kLine] = key;
      line.other[to % kLine] = source.other[i];
      line.value[to % kLine] = source.value[i];
      if (to % kLine == kLine - 1) flush(bucket);
    }
    for (std::size_t b = 0; b < cursors_.size(); ++b) {
      if (cursors_[b] % kLine != 0) flush(b);
    }
  }

 private:
  static constexpr std::int64_t kLine = 16;  // ratings: 64 bytes of a column
  struct alignas(64) Line {
    std::array<std::int32_t, kLine> key, other;
    std::array<float, kLine> value;
  };

  // Copies what the line of the last rating holds, or as much of it as is this object's.
  void flush(std::size_t bucket) {
    const std::int64_t end = cursors_[bucket];
    const std::int64_t line_begin = (end - 1) / kLine * kLine;
    const Line& line = lines_[static_cast<std::int64_t>(bucket)];
    if (end - line_begin == kLine && first_[bucket] <= line_begin) {
      copy_whole(line, line_begin);
    } else {
      const std::int64_t begin = std::max(line_begin, first_[bucket]);
      if (begin < end) copy(line, begin - line_begin, end - begin, begin);
    }
  }

  // For a size that the compiler knows: no call.
  void copy_whole(const Line& line, std::int64_t to) {
    std::memcpy(target_.key + to, line.key.data(), sizeof line.key);
    std::memcpy(target_.other + to, line.other.data(), sizeof line.other);
    std::memcpy(target_.value + to, line.value.data(), sizeof line.value);
  }

  void copy(const Line& line, std::int64_t from, std::int64_t count, std::int64_t to) {
    std::copy_n(line.key.data() + from, count, target_.key + to);
    std::copy_n(line.other.data() + from, count, target_.other + to);
    std::copy_n(line.value.data() + from, count, target_.value + to);
  }

  std::vector<std::int64_t>& cursors_;
  std::vector<std::int64_t> first_;
  AlignedVector<Line> lines_;
  MutableColumns target_;
};

}  // namespace

int useful_threads(int threads, std::int64_t count) {
  return static_cast<int>(
      std::clamp<std::int64_t>(count / kRatingsPerThread, 1, std::max(threads, 1)));
}

AlignedVector<std::int64_t> key_offsets(View<const std::int32_t> keys, std::int32_t n_keys,
                                        ThreadTeam& team) {
  AlignedVector<std::int64_t> offsets(std::int64_t{n_keys} + 1, 0);
  const View counts = View(offsets).part(1, std::ssize(offsets));
  // As long as the tables are no larger than the keys.
  const bool small = counts.size() * team.size() <= std::max<std::int64_t>(keys.size(), 1 << 13);
  if (small && keys.size() / team.size() < std::numeric_limits<std::uint32_t>::max()) {
    count_private(keys, counts, team);
  } else {
    count_shared(keys, counts, team);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

std::vector<std::int32_t> cut_rows(View<const std::int64_t> offsets, std::int64_t target) {
  const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
  std::vector<std::int32_t> first = {0};
  while (first.back() < rows) {
    const std::int32_t begin = first.back();
    // The last row that still ends within the target, but at least one row.
    const auto next =
        std::upper_bound(offsets.begin() + begin + 1, offsets.end(), offsets[begin] + target);
    const auto row = static_cast<std::int32_t>(next - offsets.begin()) - 1;
    first.push_back(std::max(row, first.back() + 1));
  }
  return first;
}

namespace {

struct Buckets {
  std::vector<std::int32_t> first_key;  // B + 1: bucket b holds keys first_key[b] .. [b + 1] - 1
  AlignedVector<std::uint16_t> of_key;  // n_keys
  std::int64_t count() const { return std::ssize(first_key) - 1; }
};

Buckets make_buckets(View<const std::int64_t> offsets) {
  const std::int64_t count = offsets.back();
  // cut_rows leaves a run up to a row short of its target: two neighbours always exceed it, so
  // there are at most 2 * count / target + 1 runs.
  const std::int64_t target = std::max(kBucketRatings, 2 * count / (kMaxBuckets - 1) + 1);
  Buckets buckets;
  buckets.first_key = cut_rows(offsets, target);
  buckets.of_key.resize(offsets.size() - 1);
  for (std::int64_t b = 0; b < buckets.count(); ++b) {
    std::fill(buckets.of_key.begin() + buckets.first_key[b],
              buckets.of_key.begin() + buckets.first_key[b + 1], static_cast<std::uint16_t>(b));
  }
  return buckets;
}

// Moves all ratings into their buckets, keeping the order inside each bucket.
void scatter_to_buckets(ConstColumns source, const Buckets& buckets,
                        View<const std::int64_t> offsets, MutableColumns target, ThreadTeam& team) {
  const std::int64_t count = offsets.back();
  // Chunk c writes bucket b from cursors[c][b] on: after the chunks before it.
  const std::int64_t chunk = std::max<std::int64_t>(count / (4 * team.size()) + 1, 1 << 14);
  std::vector<std::vector<std::int64_t>> cursors((count + chunk - 1) / chunk);
  team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> counts(buckets.count(), 0);
    for (std::int64_t i = begin; i < end; ++i) {
      ++counts[buckets.of_key[source.key[i]]];
    }
    cursors[begin / chunk] = std::move(counts);
  });
  for (std::int64_t b = 0; b < buckets.count(); ++b) {
    std::int64_t at = offsets[buckets.first_key[b]];
    for (auto& cursor : cursors) at += std::exchange(cursor[b], at);
  }
  team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    Scatter(cursors[begin / chunk], target)(source, begin, end, buckets.of_key);
  });
}

// One bucket by its keys, in place, through a copy that stays in a cache.
void sort_bucket(std::int32_t first_key, std::int32_t end_key, View<const std::int64_t> offsets,
                 MutableColumns all) {
  if (end_key - first_key < 2) return;  // one key, of any size, is in order already
  const std::int64_t begin = offsets[first_key];
  const std::int64_t end = offsets[end_key];
  const AlignedVector<std::int32_t> others(all.other + begin, all.other + end);
  const AlignedVector<float> values(all.value + begin, all.value + end);
  std::vector<std::int64_t> next(offsets.begin() + first_key, offsets.begin() + end_key);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t to = next[static_cast<std::size_t>(all.key[i] - first_key)]++;
    all.other[to] = others[i - begin];
    all.value[to] = values[i - begin];
  }
  for (std::int32_t key = first_key; key < end_key; ++key) {
    std::fill(all.key + offsets[key], all.key + offsets[key + 1], key);
  }
}

}  // namespace

void sort_by_key(ConstColumns source, View<const std::int64_t> offsets, MutableColumns target,
                 ThreadTeam& team) {
  const Buckets buckets = make_buckets(offsets);
  scatter_to_buckets(source, buckets, offsets, target, team);
  team.for_chunks(buckets.count(), 1, [&](std::int64_t b, std::int64_t) {
    const auto at = static_cast<std::size_t>(b);
    sort_bucket(buckets.first_key[at], buckets.first_key[at + 1], offsets, target);
  });
}

}  // namespace mf
