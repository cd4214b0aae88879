// Internal: characters of a line of a chunk (line_parser.hpp), eight at a time. Every end of digits
// or of a field costs a mispredicted jump; here there is one for eight characters. kTextPadding of
// them can be read from every position of such a line.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace mf {

inline bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

inline std::uint64_t eight_chars(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t chars = 0;
  std::memcpy(&chars, p, sizeof chars);
  return chars;
}

inline constexpr std::uint64_t kOnes = 0x0101010101010101;
inline constexpr std::uint64_t kHigh = kOnes << 7;

// The high bits of the characters above `most`; exact up to the first above 127, the only ones that
// carry into later characters.
[[gnu::always_inline]] inline std::uint64_t above(std::uint64_t most, std::uint64_t chars) {
  return ((chars + kOnes * (127 - most)) | chars) & kHigh;
}

// The digits that eight characters begin with.
struct EightDigits {
  std::uint64_t digits;  // the values of the digits, by character
  int count;             // of digits before the first other character

  [[gnu::always_inline]] explicit EightDigits(const char* p) {
    digits = eight_chars(p) ^ (kOnes * '0');
    count = std::countr_zero(above(9, digits)) / 8;
  }

  // For 1 to 8 digits.
  [[gnu::always_inline]] std::uint64_t value() const {
    std::uint64_t v = digits << (64 - 8 * count);
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ff;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffff;
    return (v * 10000 + (v >> 32)) & 0xffffffff;
  }
};

// The high bits of the characters that are `wanted`; behind the first such one, perhaps of others,
// too.
[[gnu::always_inline]] inline std::uint64_t where_is(char wanted, std::uint64_t chars) {
  const std::uint64_t zero = chars ^ (kOnes * static_cast<unsigned char>(wanted));
  return (zero - kOnes) & ~zero & kHigh;
}

// Moves p to the separator or the end of the line.
[[gnu::always_inline]] inline void skip_to(const char*& p, char separator) {
  const char* q = p;
  while (true) {
    const std::uint64_t chars = eight_chars(q);
    const std::uint64_t found =
        where_is(separator, chars) | where_is('\n', chars) | where_is('\r', chars);
    q += std::countr_zero(found) / 8;  // 8 without one
    if (found == 0) continue;
    if (*q == separator || at_line_end(q)) break;
    ++q;  // a '\r' within the line
  }
  p = q;
}

// Moves p over digits and `kMarks`. Characters above 127 are neither.
template <char... kMarks>
[[gnu::always_inline]] inline void skip_digits(const char*& p) {
  const char* q = p;
  std::uint64_t others = 0;
  do {
    const std::uint64_t chars = eight_chars(q);
    others = above(9, chars ^ (kOnes * '0'));
    ((others &= above(0, chars ^ (kOnes * kMarks))), ...);
    q += std::countr_zero(others) / 8;  // 8 without one
  } while (others == 0);
  p = q;
}

}  // namespace mf
