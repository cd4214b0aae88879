#include "datasets/ratings/packed/rating_packer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

namespace mf {
namespace {

constexpr std::int64_t kLookedAt = std::int64_t{1} << 16;  // values that a thread takes at a time
constexpr std::int64_t kPacked = 1024 * kPackedBlock;      // ratings, likewise

}  // namespace

bool ValueNumbers::add_new(std::size_t slot, std::uint32_t value) {
  if (count_ == kMostTableValues) return false;
  keys_[slot] = value;
  numbers_[slot] = static_cast<std::int16_t>(count_);
  values_[static_cast<std::size_t>(count_++)] = value;
  return true;
}

void ValueNumbers::sort() {
  std::sort(values_.begin(), values_.begin() + count_);
  for (std::int64_t i = 0; i < count_; ++i) {
    numbers_[slot_of(values_[static_cast<std::size_t>(i)])] = static_cast<std::int16_t>(i);
  }
}

void RatingPacker::look_at(View<const float> values, ThreadTeam& team) {
  std::atomic<bool> too_many{!form_.has_table()};
  std::mutex mutex;
  team.for_chunks(values.size(), kLookedAt, [&](std::int64_t begin, std::int64_t end) {
    if (too_many) return;
    ValueNumbers own;
    for (std::int64_t i = begin; i < end; ++i) {
      if (own.add(std::bit_cast<std::uint32_t>(values[i]))) continue;
      too_many = true;
      return;
    }
    const std::lock_guard lock(mutex);
    for (const std::uint32_t value : own.values()) {
      if (!numbers_.add(value)) too_many = true;
    }
  });
  table_.clear();
  form_.value_bits = kOwnValueBits;
  if (too_many) return;
  numbers_.sort();
  for (const std::uint32_t value : numbers_.values()) table_.push_back(std::bit_cast<float>(value));
  form_.value_bits = bits_below(numbers_.values().size());
}

void RatingPacker::pack(const std::int32_t* items, const float* values, std::int64_t count,
                        std::uint64_t* words) const {
  const int bits = form_.bits();
  std::uint64_t word = 0;
  int filled = 0;  // bits of the word
  const auto put = [&](std::int32_t item, std::uint32_t value) {
    const std::uint64_t rating = static_cast<std::uint32_t>(item) | std::uint64_t{value}
                                                                        << form_.item_bits;
    word |= rating << filled;
    filled += bits;
    if (filled < 64) return;
    *words++ = word;
    filled -= 64;
    word = rating >> (bits - filled);
  };
  if (form_.has_table()) {
    for (std::int64_t i = 0; i < count; ++i)
      put(items[i], numbers_[std::bit_cast<std::uint32_t>(values[i])]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) put(items[i], std::bit_cast<std::uint32_t>(values[i]));
  }
  if (filled > 0) *words = word;
}

PackedRatings pack_ratings(View<const std::int32_t> items, View<const float> values,
                           std::int64_t n_items, ThreadTeam& team) {
  RatingPacker packer(n_items);
  packer.look_at(values, team);
  PackedRatings packed;
  packed.form = packer.form();
  packed.table = packer.table();
  packed.count = values.size();
  packed.words = AlignedVector<std::uint64_t>(packed.form.words(packed.count) + 1);
  packed.words.back() = 0;
  team.for_chunks(packed.count, kPacked, [&](std::int64_t begin, std::int64_t end) {
    packer.pack(items.data() + begin, values.data() + begin, end - begin,
                packed.words.data() + packed.form.words(begin));
  });
  return packed;
}

}  // namespace mf
