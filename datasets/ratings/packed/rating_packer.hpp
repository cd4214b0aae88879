// Finds the form that suits ratings, and writes them in it.
#pragma once

#include <array>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"
#include "datasets/ratings/packed/packed_form.hpp"

namespace mf {

// The numbers of up to kMostTableValues values, told apart by their bits.
class ValueNumbers {
 public:
  ValueNumbers() { numbers_.fill(kNone); }

  // False if there are too many.
  bool add(std::uint32_t value) {
    const std::size_t slot = slot_of(value);
    return numbers_[slot] != kNone || add_new(slot, value);
  }
  // Numbers them anew, by their bits.
  void sort();

  // For a value that has been added.
  std::uint32_t operator[](std::uint32_t value) const {
    return static_cast<std::uint32_t>(numbers_[slot_of(value)]);
  }
  View<const std::uint32_t> values() const { return {values_.data(), count_}; }

 private:
  static constexpr std::int16_t kNone = -1;
  static constexpr int kSlotBits = 10;  // a quarter of the slots at most is taken

  bool add_new(std::size_t slot, std::uint32_t value);

  // The value's slot, or the free one for it.
  std::size_t slot_of(std::uint32_t value) const {
    std::size_t slot = (value * 0x9e3779b1U) >> (32 - kSlotBits);
    while (numbers_[slot] != kNone && keys_[slot] != value) slot = (slot + 1) % keys_.size();
    return slot;
  }

  std::array<std::uint32_t, std::size_t{1} << kSlotBits> keys_{};
  std::array<std::int16_t, std::size_t{1} << kSlotBits> numbers_;
  std::array<std::uint32_t, kMostTableValues> values_{};
  std::int64_t count_ = 0;
};

// All values must have been looked at before ratings are packed.
class RatingPacker {
 public:
  explicit RatingPacker(std::int64_t n_items) { form_.item_bits = bits_below(n_items); }

  // A pass over the values by all threads, which ends early if too many occur.
  void look_at(View<const float> values, ThreadTeam& team);

  const PackedForm& form() const { return form_; }
  const AlignedVector<float>& table() const { return table_; }  // empty: values by themselves

  // `count` ratings, of which the first begins a block, into form().words(count) words.
  void pack(const std::int32_t* items, const float* values, std::int64_t count,
            std::uint64_t* words) const;

 private:
  PackedForm form_;
  AlignedVector<float> table_;
  ValueNumbers numbers_;
};

// Ratings of rows, packed.
struct PackedRatings {
  PackedForm form;
  AlignedVector<float> table;
  AlignedVector<std::uint64_t> words;  // form.words(count), and a zero
  std::int64_t count = 0;

  std::int64_t bytes() const { return std::ssize(words) * std::int64_t{sizeof(std::uint64_t)}; }
};

PackedRatings pack_ratings(View<const std::int32_t> items, View<const float> values,
                           std::int64_t n_items, ThreadTeam& team);

}  // namespace mf
