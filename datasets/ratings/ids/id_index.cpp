#include "datasets/ratings/ids/id_index.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <new>

#include "base/error.hpp"

namespace mf {
namespace {

constexpr std::int64_t kPageWords = 512;  // 4 KiB of bitmap
constexpr std::int64_t kIndexChunk = std::int64_t{1} << 16;

struct Range {
  std::int32_t min = std::numeric_limits<std::int32_t>::max();
  std::int32_t max = -1;
};

// None: max < min.
Range range_of(View<const std::int32_t> ids, ThreadTeam& team) {
  std::mutex mutex;
  Range all;
  team.for_chunks(ids.size(), kIndexChunk, [&](std::int64_t begin, std::int64_t end) {
    Range range;
    for (const std::int32_t id : ids.part(begin, end)) {
      range = {std::min(range.min, id), std::max(range.max, id)};
    }
    const std::lock_guard lock(mutex);
    all = {std::min(all.min, range.min), std::max(all.max, range.max)};
  });
  return all;
}

}  // namespace

template <class T>
IdIndex::Zeroed<T> IdIndex::zeroed(std::int64_t count) {
  auto* p = static_cast<T*>(std::calloc(std::max<std::int64_t>(count, 1), sizeof(T)));
  if (p == nullptr) throw std::bad_alloc();
  return Zeroed<T>(p);
}

IdIndex::IdIndex(View<const std::int32_t> ids, ThreadTeam& team, const char* what,
                 const std::string& name) {
  const Range range = range_of(ids, team);
  if (range.min < 0) {
    fail(ErrorKind::data, "{}: found the {} id {}, expected ids from 0 to 2147483647", name, what,
         range.min);
  }
  min_ = range.min;
  max_ = range.max;
  n_words_ = (std::int64_t{max_} + 64) / 64;
  words_ = zeroed<std::uint64_t>(n_words_);
  before_ = zeroed<std::int32_t>(n_words_);
  used_ = zeroed<std::uint8_t>((n_words_ + kPageWords - 1) / kPageWords);
  team.for_chunks(ids.size(), kIndexChunk,
                  [&](std::int64_t begin, std::int64_t end) { mark(ids.part(begin, end)); });
  count();
}

// Several threads at once.
void IdIndex::mark(View<const std::int32_t> ids) {
  for (const std::int32_t one : ids) {
    const auto id = static_cast<std::uint32_t>(one);
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    const std::atomic_ref<std::uint64_t> word(words_[id / 64]);
    // Most ids were seen before: reading first keeps the cache line shared.
    if ((word.load(std::memory_order_relaxed) & bit) != 0) continue;
    word.fetch_or(bit, std::memory_order_relaxed);
    std::atomic_ref<std::uint8_t>(used_[id / 64 / kPageWords]).store(1, std::memory_order_relaxed);
  }
}

void IdIndex::count() {
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
