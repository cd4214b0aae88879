// How ratings of rows are packed for the way to a device: each in as many bits as its item's number
// and its value need, one behind the other in 64-bit words.
//
// Rating i has the bits [i * bits(), (i + 1) * bits()) of the words, counted from the lowest of the
// first word: below, the number of its item; above, the number of its value in the table of all
// distinct values, or the value's 32 bits if there are more than 256. kPackedBlock ratings fill
// bits() words, so that each block can be written and read by itself.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/host_device.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf {

inline constexpr std::int64_t kPackedBlock = 64;  // ratings
inline constexpr std::int32_t kMostTableValues = 256;
inline constexpr std::int32_t kOwnValueBits = 32;  // values by themselves, without a table

struct PackedForm {
  std::int32_t item_bits = 0;   // up to 31
  std::int32_t value_bits = 0;  // up to 8, or kOwnValueBits

  MF_HD std::int32_t bits() const { return item_bits + value_bits; }
  MF_HD bool has_table() const { return value_bits != kOwnValueBits; }
  // For `count` ratings from the start of a block.
  MF_HD std::int64_t words(std::int64_t count) const { return (count * bits() + 63) / 64; }
};

// As many bits as the numbers below `count` need.
inline std::int32_t bits_below(std::int64_t count) {
  return count <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

// Rating i of the words that begin with a block. The word behind its last one is read, but its
// value does not matter; `table` if the form has one.
MF_HD RowRating unpacked(const PackedForm& form, const float* table, const std::uint64_t* words,
                         std::int64_t i) {
  const std::int64_t at = i * form.bits();
  const auto shift = static_cast<int>(at % 64);
  const std::uint64_t low = words[at / 64] >> shift;
  const std::uint64_t high = words[at / 64 + 1] << 1 << (63 - shift);
  const std::uint64_t rating = (low | high) & ((std::uint64_t{1} << form.bits()) - 1);
  const auto item = static_cast<std::int32_t>(rating & ((std::uint64_t{1} << form.item_bits) - 1));
  const auto value = static_cast<std::uint32_t>(rating >> form.item_bits);
  if (form.has_table()) return {item, table[value]};
  float own = 0;
  std::memcpy(&own, &value, sizeof own);
  return {item, own};
}

}  // namespace mf
