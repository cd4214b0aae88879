// Internal: characters of a line of a chunk (line_parser.hpp), eight at a time. Where digits or a
// field end decides a jump that no processor foresees; here there is one for eight characters.
// kTextPadding of them can be read from every position of such a line.
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

// The digits that eight characters begin with.
struct EightDigits {
  std::uint64_t digits;  // the values of those that are digits, by character
  int count;             // of digits before the first that is none

  [[gnu::always_inline]] explicit EightDigits(const char* p) {
    digits = eight_chars(p) ^ 0x3030303030303030;
    // The high bit of what is above 9; what it carries reaches later characters alone.
    const std::uint64_t others =
        ((digits + 0x7676767676767676) | digits) & std::uint64_t{0x8080808080808080};
    count = std::countr_zero(others) / 8;
  }

  // Of 1 to 8 digits.
  [[gnu::always_inline]] std::uint64_t value() const {
    std::uint64_t v = digits << (64 - 8 * count);
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ff;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffff;
    return (v * 10000 + (v >> 32)) & 0xffffffff;
  }
};

// The high bits of those of eight characters that are `wanted`; of those behind the first such one,
// perhaps others, too.
[[gnu::always_inline]] inline std::uint64_t where_is(char wanted, std::uint64_t chars) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t zero = chars ^ (kOnes * static_cast<unsigned char>(wanted));
  return (zero - kOnes) & ~zero & (kOnes << 7);
}

// Moves p to the separator or the end of the line.
[[gnu::always_inline]] inline void skip_to(const char*& p, char separator) {
  const char* q = p;
  while (true) {
    const std::uint64_t chars = eight_chars(q);
    const std::uint64_t found =
        where_is(separator, chars) | where_is('\n', chars) | where_is('\r', chars);
    q += std::countr_zero(found) / 8;  // 8 where there is none
    if (found == 0) continue;
    if (*q == separator || at_line_end(q)) break;
    ++q;  // a '\r' within the line
  }
  p = q;
}

// Moves p over digits and `kMarks`.
template <char... kMarks>
[[gnu::always_inline]] inline void skip_digits(const char*& p) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7;
  // The high bits of the characters above 127 - room. Only what is above 127 carries into the next
  // one: that is neither a digit nor a mark, and what follows the first such does not matter.
  const auto above = [](std::uint64_t chars, std::uint64_t room) {
    return ((chars + kOnes * room) | chars) & kHigh;
  };
  const char* q = p;
  std::uint64_t others = 0;
  do {
    const std::uint64_t chars = eight_chars(q);
    others = above(chars ^ (kOnes * '0'), 127 - 9);
    ((others &= above(chars ^ (kOnes * kMarks), 127)), ...);
    q += std::countr_zero(others) / 8;  // 8 where there is none
  } while (others == 0);
  p = q;
}

}  // namespace mf
