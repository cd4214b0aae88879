#include "datasets/ratings/sort/bucket_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/host/pages.hpp"

namespace mf {
namespace {

constexpr std::int64_t kMaxBuckets = 1024;          // more thrash the TLB while scattering
constexpr std::int64_t kBucketRatings = 32 * 1024;  // twice 8 bytes each: within an L2 cache
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

int bits_below(std::int64_t count) {
  const std::int64_t most = std::max<std::int64_t>(count, 1) - 1;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
}

enum class RowOrder { by_column, of_source };

struct Buckets {
  std::vector<std::int32_t> first_row;  // B + 1: bucket b holds rows first_row[b] .. [b + 1] - 1
  AlignedVector<std::uint16_t> of_row;  // n_rows
  int row_bits = 0;                     // of a row from the first of its bucket, at most
  std::int64_t count() const { return std::ssize(first_row) - 1; }
};

Buckets make_buckets(View<const std::int64_t> offsets) {
  const std::int64_t count = offsets.back();
  // cut_rows leaves a run up to a row short of its target: two neighbours always exceed it, so
  // there are at most 2 * count / target + 1 runs.
  const std::int64_t target = std::max(kBucketRatings, 2 * count / (kMaxBuckets - 1) + 1);
  Buckets buckets;
  buckets.first_row = cut_rows(offsets, target);
  buckets.of_row.resize(offsets.size() - 1);
  for (std::int64_t b = 0; b < buckets.count(); ++b) {
    const std::int32_t begin = buckets.first_row[b];
    const std::int32_t end = buckets.first_row[b + 1];
    std::fill(buckets.of_row.begin() + begin, buckets.of_row.begin() + end,
              static_cast<std::uint16_t>(b));
    buckets.row_bits = std::max(buckets.row_bits, bits_below(end - begin));
  }
  return buckets;
}

// A rating on its way. The key is its row, from the first of its bucket, its column and its file in
// one number: nearly always of 32 bits.
template <class Key>
struct [[gnu::packed]] KeyedEntry {
  Key key;
  float value;
};

// Writes the entries of one chunk of ratings to their buckets by whole cache lines, which are
// filled beside each other first: the lines of a thousand buckets are in a thousand pages, more
// than a TLB holds.
template <class Key>
class EntryWriter {
 public:
  // cursors[b]: where the next entry of bucket b goes.
  EntryWriter(std::vector<std::int64_t> cursors, KeyedEntry<Key>* target)
      : cursors_(std::move(cursors)),
        first_(cursors_),
        lines_(std::ssize(first_)),
        target_(target) {}

  [[gnu::always_inline]] void add(std::size_t bucket, KeyedEntry<Key> entry) {
    const std::int64_t to = cursors_[bucket]++;
    const std::size_t in_line = static_cast<std::size_t>(to) % kLine;
    lines_[static_cast<std::int64_t>(bucket)].entries[in_line] = entry;
    if (in_line == kLine - 1) flush(bucket);
  }

  void finish() {
    for (std::size_t b = 0; b < cursors_.size(); ++b) {
      if (cursors_[b] % kLine != 0) flush(b);
    }
  }

 private:
  static constexpr std::int64_t kLine = 8;
  struct alignas(64) Line {
    std::array<KeyedEntry<Key>, kLine> entries;
  };

  // Copies the line of the last entry, or this object's share of it.
  [[gnu::always_inline]] void flush(std::size_t bucket) {
    const std::int64_t end = cursors_[bucket];
    const std::int64_t line_begin = (end - 1) / kLine * kLine;
    const auto& line = lines_[static_cast<std::int64_t>(bucket)].entries;
    if (end - line_begin == kLine && first_[bucket] <= line_begin) {
      std::memcpy(target_ + line_begin, line.data(), sizeof line);  // of a known size: no call
    } else {
      const std::int64_t begin = std::max(line_begin, first_[bucket]);
      if (begin < end) std::copy_n(&line[begin - line_begin], end - begin, target_ + begin);
    }
  }

  std::vector<std::int64_t> cursors_;
  std::vector<std::int64_t> first_;
  AlignedVector<Line> lines_;
  KeyedEntry<Key>* target_;
};

// Sorts by the bits [from, to) of the keys, digit by digit, from one array to the other and back.
// Two runs that ascend already, as of two sorted files, are merged. Returns the array that is
// sorted.
template <class Key>
const KeyedEntry<Key>* sort_entries(KeyedEntry<Key>* entries, KeyedEntry<Key>* others,
                                    std::int64_t count, int from, int to) {
  const auto less = [=](const auto& a, const auto& b) { return a.key >> from < b.key >> from; };
  const auto second = std::is_sorted_until(entries, entries + count, less);
  if (std::is_sorted(second, entries + count, less)) {
    std::merge(entries, second, second, entries + count, others, less);
    return others;
  }
  constexpr int kDigit = 11;
  std::array<std::int64_t, 1 << kDigit> next;
  for (int digits = (to - from + kDigit - 1) / kDigit; digits > 0; --digits) {
    const int width = (to - from) / digits;
    const Key mask = (Key{1} << width) - 1;
    std::fill_n(next.begin(), mask + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) ++next[entries[i].key >> from & mask];
    std::exclusive_scan(next.begin(), next.begin() + mask + 1, next.begin(), std::int64_t{0});
    for (std::int64_t i = 0; i < count; ++i)
      others[next[entries[i].key >> from & mask]++] = entries[i];
    std::swap(entries, others);
    from += width;
  }
  return entries;
}

template <class Key>
class RowSort {
 public:
  RowSort(const Buckets& buckets, View<const std::int64_t> offsets, int column_bits, int file_bits)
      : buckets_(buckets),
        offsets_(offsets),
        column_bits_(column_bits),
        file_bits_(file_bits),
        entries_(offsets.back()) {}

  // Moves all ratings into their buckets, keeping the order inside each bucket.
  template <class Dense>
  void scatter(ConstColumns source, const Dense& dense, ThreadTeam& team) {
    const std::int64_t count = offsets_.back();
    // Chunk c writes bucket b from cursors[c][b] on: after the chunks before it.
    const std::int64_t chunk = std::max<std::int64_t>(count / (4 * team.size()) + 1, 1 << 14);
    std::vector<std::vector<std::int64_t>> cursors((count + chunk - 1) / chunk);
    team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> counts(buckets_.count(), 0);
      for (std::int64_t i = begin; i < end; ++i) ++counts[buckets_.of_row[source.row[i]]];
      cursors[begin / chunk] = std::move(counts);
    });
    for (std::int64_t b = 0; b < buckets_.count(); ++b) {
      std::int64_t at = offsets_[buckets_.first_row[b]];
      for (auto& cursor : cursors) at += std::exchange(cursor[b], at);
    }
    team.for_chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
      EntryWriter<Key> writer(std::move(cursors[begin / chunk]), entries_.data());
      // Copies: the compiler cannot tell that no entry overwrites the target of a reference.
      const auto [rows, columns, values, files] = source;
      const std::uint16_t* const of_row = buckets_.of_row.data();
      const std::int32_t* const first_row = buckets_.first_row.data();
      const int column_bits = column_bits_;
      const int file_bits = file_bits_;
      const Dense column_of = dense;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint16_t b = of_row[rows[i]];
        const auto row = static_cast<Key>(rows[i] - first_row[b]);
        const auto column = static_cast<Key>(column_of(columns[i]));
        const Key file = files != nullptr ? files[i] : 0;
        writer.add(b, {(row << column_bits | column) << file_bits | file, values[i]});
      }
      writer.finish();
    });
  }

  // Sorts each bucket, in copies that stay in a cache, and gives back the entries.
  bool sort(RowOrder order, MutableColumns target, ThreadTeam& team) {
    std::atomic<bool> distinct{true};
    UsedColumn entries{View<const KeyedEntry<Key>>(entries_)};
    team.for_chunks(buckets_.count(), 1, [&](std::int64_t bucket, std::int64_t) {
      const auto b = static_cast<std::size_t>(bucket);
      const std::int32_t first = buckets_.first_row[b];
      const int row_bits = bits_below(buckets_.first_row[b + 1] - first);
      const std::int64_t begin = offsets_[first];
      const std::int64_t end = offsets_[buckets_.first_row[b + 1]];
      AlignedVector<KeyedEntry<Key>> others(end - begin);
      const KeyedEntry<Key>* const sorted =
          sort_entries(entries_.data() + begin, others.data(), end - begin,
                       file_bits_ + (order == RowOrder::by_column ? 0 : column_bits_),
                       file_bits_ + column_bits_ + row_bits);
      if (!write(sorted, first, begin, end, target)) distinct = false;
      entries.used(begin, end);
    });
    return distinct;
  }

 private:
  // The entries of a bucket as the ratings [begin, end). Returns whether no neighbours are equal.
  bool write(const KeyedEntry<Key>* sorted, std::int32_t first_row, std::int64_t begin,
             std::int64_t end, MutableColumns target) const {
    const Key columns = (Key{1} << column_bits_) - 1;
    const Key files = (Key{1} << file_bits_) - 1;
    std::uint32_t equal = 0;
    for (std::int64_t i = 0; i < end - begin; ++i) {
      target.column[begin + i] = static_cast<std::int32_t>(sorted[i].key >> file_bits_ & columns);
      target.value[begin + i] = sorted[i].value;
    }
    for (std::int64_t i = 1; i < end - begin; ++i)
      equal |= (sorted[i].key ^ sorted[i - 1].key) >> file_bits_ == 0;
    for (std::int64_t i = 0; target.row != nullptr && i < end - begin; ++i)
      target.row[begin + i] =
          first_row + static_cast<std::int32_t>(sorted[i].key >> file_bits_ >> column_bits_);
    for (std::int64_t i = 0; target.file != nullptr && i < end - begin; ++i)
      target.file[begin + i] = static_cast<std::uint8_t>(sorted[i].key & files);
    return equal == 0;
  }

  const Buckets& buckets_;
  View<const std::int64_t> offsets_;
  int column_bits_;
  int file_bits_;
  AlignedVector<KeyedEntry<Key>> entries_;
};

// `dense` makes columns of source.column, below n_columns.
template <class Dense>
bool sort_ratings(ConstColumns source, View<const std::int64_t> offsets, RowOrder order,
                  std::int64_t n_columns, const Dense& dense, std::int64_t n_files,
                  MutableColumns target, ThreadTeam& team) {
  const Buckets buckets = make_buckets(offsets);
  const int column_bits = bits_below(n_columns);
  const int file_bits = bits_below(n_files);
  const auto sorted = [&](auto sort) {
    sort.scatter(source, dense, team);
    return sort.sort(order, target, team);
  };
  if (buckets.row_bits + column_bits + file_bits <= 32) {
    return sorted(RowSort<std::uint32_t>(buckets, offsets, column_bits, file_bits));
  }
  return sorted(RowSort<std::uint64_t>(buckets, offsets, column_bits, file_bits));
}

}  // namespace

bool sort_pairs(ConstColumns source, View<const std::int64_t> offsets, const IdIndex& columns,
                std::int64_t n_files, MutableColumns target, ThreadTeam& team) {
  bool distinct = true;
  columns.with([&](const auto& dense) {
    distinct = sort_ratings(source, offsets, RowOrder::by_column, columns.size(), dense, n_files,
                            target, team);
  });
  return distinct;
}

void sort_rows(ConstColumns source, View<const std::int64_t> offsets, std::int64_t n_columns,
               MutableColumns target, ThreadTeam& team) {
  const auto same = [](std::int32_t column) { return column; };
  sort_ratings(source, offsets, RowOrder::of_source, n_columns, same, 1, target, team);
}

}  // namespace mf
