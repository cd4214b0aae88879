#include "datasets/ratings/ids/id_index.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "base/error.hpp"

namespace mf {
namespace {

constexpr std::int64_t kPageWords = 512;  // 4 KiB of bitmap
constexpr std::int64_t kChunk = std::int64_t{1} << 16;

}  // namespace

IdRange range_of(const std::int32_t* ids, std::int64_t count) {
  IdRange range;
  for (std::int64_t i = 0; i < count; ++i) {
    range.min = std::min(range.min, ids[i]);
    range.max = std::max(range.max, ids[i]);
  }
  return range;
}

IdRange range_of(View<const std::int32_t> ids, ThreadTeam& team, const char* what,
                 const std::string& name) {
  std::vector<IdRange> parts(static_cast<std::size_t>((ids.size() + kChunk - 1) / kChunk));
  team.for_chunks(ids.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(begin / kChunk)] = range_of(ids.data() + begin, end - begin);
  });
  IdRange all;
  for (const IdRange& part : parts) all.add(part);
  if (all.min >= 0) return all;
  fail(ErrorKind::data, "{}: found the {} id {}, expected ids from 0 to 2147483647", name, what,
       all.min);
}

template <class T>
IdIndex::Zeroed<T> IdIndex::zeroed(std::int64_t count) {
  auto* p = static_cast<T*>(std::calloc(std::max<std::int64_t>(count, 1), sizeof(T)));
  if (p == nullptr) throw std::bad_alloc();
  return Zeroed<T>(p);
}

IdIndex::IdIndex(std::int32_t max)
    : n_words_((std::int64_t{max} + 64) / 64),
      words_(zeroed<std::uint64_t>(n_words_)),
      before_(zeroed<std::int32_t>(n_words_)),
      used_(zeroed<std::uint8_t>((n_words_ + kPageWords - 1) / kPageWords)) {}

IdIndex::IdIndex(View<const std::int32_t> ids, ThreadTeam& team, const char* what,
                 const std::string& name) {
  const IdRange range = range_of(ids, team, what, name);
  *this = IdIndex(range.max);
  team.for_chunks(ids.size(), kChunk, [&](std::int64_t begin, std::int64_t end) {
    mark(ids.data() + begin, end - begin);
  });
  finish(range);
}

void IdIndex::mark(const std::int32_t* ids, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint32_t>(ids[i]);
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    const std::atomic_ref<std::uint64_t> word(words_[id / 64]);
    // Most ids were seen before: reading first keeps the cache line shared.
    if ((word.load(std::memory_order_relaxed) & bit) != 0) continue;
    word.fetch_or(bit, std::memory_order_relaxed);
    std::atomic_ref<std::uint8_t>(used_[id / 64 / kPageWords]).store(1, std::memory_order_relaxed);
  }
}

void IdIndex::finish(const IdRange& range) {
  min_ = range.min;
  max_ = range.max;
  for (std::int64_t page = 0; page * kPageWords < n_words_; ++page) {
    if (used_[page] == 0) continue;
    const std::int64_t end = std::min((page + 1) * kPageWords, n_words_);
    for (std::int64_t w = page * kPageWords; w < end; ++w) {
      before_[w] = size_;
      size_ += std::popcount(words_[w]);
    }
  }
}

AlignedVector<std::int32_t> IdIndex::ids() const {
  AlignedVector<std::int32_t> ids;
  ids.reserve(size_);
  for (std::int64_t page = 0; page * kPageWords < n_words_; ++page) {
    if (used_[page] == 0) continue;
    const std::int64_t end = std::min((page + 1) * kPageWords, n_words_);
    for (std::int64_t w = page * kPageWords; w < end; ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1) {
        const std::int64_t id = w * 64 + std::countr_zero(left);
        ids.push_back(static_cast<std::int32_t>(id));
      }
    }
  }
  return ids;
}

}  // namespace mf
