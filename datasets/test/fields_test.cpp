// Characters read eight at a time, beside the same character by character.
#include "datasets/readers/fields.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.hpp"
#include "datasets/readers/line_parser.hpp"

namespace mf {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();

std::string padded(std::string line) {
  line.append(kTextPadding, '\0');
  return line;
}

void expect_same_integer(const std::string& line) {
  const std::string text = padded(line);
  const char* slow = text.data();
  const char* fast = text.data();
  std::uint64_t expected = 0;
  std::uint64_t found = 0;
  const bool is_one = read_integer(slow, kMax, expected);
  ASSERT_EQ(read_integer_of_line(fast, kMax, found), is_one) << line;
  if (is_one) {
    EXPECT_EQ(found, expected) << line;
  }
  EXPECT_EQ(fast - text.data(), slow - text.data()) << line;
}

TEST(Fields, IntegersOfAnyLengthBeforeAnyCharacter) {
  Rng rng(1);
  for (std::size_t digits = 0; digits <= 21; ++digits) {
    for (int behind = 0; behind < 256; ++behind) {
      std::string line;
      for (std::size_t d = 0; d < digits; ++d) {
        line += static_cast<char>('0' + static_cast<int>(rng.below(10)));
      }
      expect_same_integer(line + static_cast<char>(behind) + "7\n");
    }
  }
}

TEST(Fields, TheLargestIdAndOneAboveIt) {
  for (const char* line : {"2147483647\n", "2147483648\n", "00002147483647\n", "99999999\n"}) {
    expect_same_integer(line);
  }
}

TEST(Fields, DigitsAreSkippedToTheFirstOtherCharacter) {
  for (std::size_t digits = 0; digits <= 40; ++digits) {
    const std::string text = padded(std::string(digits, '9') + ":1\n");
    const char* p = text.data();
    skip_digits(p);
    EXPECT_EQ(p - text.data(), static_cast<std::ptrdiff_t>(digits));
  }
}

TEST(Fields, DatesEndAtTheFirstCharacterThatIsNeitherDigitNorMark) {
  for (const char* line : {"2005-09-06\n", "-\n", "--1--,\n", "123456789-12345678-\r\n"}) {
    const std::string text = padded(line);
    const char* p = text.data();
    skip_date(p, "-", "a date");
    EXPECT_EQ(p - text.data(), static_cast<std::ptrdiff_t>(text.find_first_not_of("0123456789-")));
  }
}

// Where a search character by character ends.
std::ptrdiff_t end_of_field(const std::string& text, char separator) {
  const char* p = text.data();
  while (*p != separator && !at_line_end(p)) ++p;
  return p - text.data();
}

TEST(Fields, SkipsToTheSeparatorOrTheEndOfTheLine) {
  // Neighbours of what is looked for by one bit, and carriage returns that end no line.
  const std::string some = ",-+;:\r\v\t\x0b\xacz9\x01";
  Rng rng(2);
  for (int n = 0; n < 20000; ++n) {
    std::string line;
    const std::size_t length = rng.below(30);
    for (std::size_t k = 0; k < length; ++k) line += some[rng.below(n % 2 == 0 ? some.size() : 2)];
    const char separator = ",;\t"[rng.below(3)];
    const std::string text = padded(line + (n % 3 == 0 ? "\r\n" : "\n"));
    const char* p = text.data();
    skip_to(p, separator);
    ASSERT_EQ(p - text.data(), end_of_field(text, separator)) << testing::PrintToString(line);
  }
}

TEST(Fields, EveryLineOfAChunkIsFollowedByItsPadding) {
  for (const std::string& text :
       {std::string("1\n"), std::string("1\n2"), std::string("12345678\n"),
        std::string("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), std::string(4096, '\n') + "1"}) {
    for (const std::size_t bytes : {1, 3, 1 << 20}) {
      const ChunkedText chunked(text, 0, bytes);
      std::string joined;
      for (const TextChunk& chunk : chunked.chunks()) {
        EXPECT_EQ(chunk.offset, std::ssize(joined));
        joined.append(chunk.begin, chunk.end);
        if (&chunk != &chunked.chunks().back()) {
          EXPECT_LE(chunk.end - 1 + kTextPadding, text.data() + text.size()) << text;
        }
      }
      EXPECT_EQ(joined, text.ends_with('\n') ? text : text + '\n');
    }
  }
}

}  // namespace
}  // namespace mf
