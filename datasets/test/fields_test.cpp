// Characters read eight at a time, beside the same character by character.
#include "datasets/readers/fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/rng.hpp"
#include "datasets/readers/line_parser.hpp"
#include "datasets/readers/parse_error.hpp"

namespace mf {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();

// A line of a chunk that ends with its padding, so that a read behind it is found.
class Line {
 public:
  explicit Line(const std::string& line)
      : size_(std::ssize(line) + kTextPadding - 1), chars_(new char[size_]()) {
    std::copy(line.begin(), line.end(), chars_.get());
  }
  const char* begin() const { return chars_.get(); }

 private:
  std::ptrdiff_t size_;
  std::unique_ptr<char[]> chars_;
};

void expect_same_integer(const std::string& line, std::uint64_t max) {
  const Line text(line);
  const char* slow = text.begin();
  const char* fast = text.begin();
  std::uint64_t expected = 0;
  std::uint64_t found = 0;
  const bool is_one = read_integer(slow, max, expected);
  ASSERT_EQ(read_integer_of_line(fast, max, found), is_one) << line << " up to " << max;
  if (is_one) {
    EXPECT_EQ(found, expected) << line;
  }
  EXPECT_EQ(fast - text.begin(), slow - text.begin()) << line;
}

TEST(Fields, IntegersOfAnyLengthBeforeAnyCharacter) {
  Rng rng(1);
  for (std::size_t digits = 0; digits <= 21; ++digits) {
    for (int behind = 0; behind < 256; ++behind) {
      std::string line;
      for (std::size_t d = 0; d < digits; ++d) {
        line += static_cast<char>('0' + static_cast<int>(rng.below(10)));
      }
      expect_same_integer(line + static_cast<char>(behind) + "7\n", kMax);
    }
  }
}

TEST(Fields, TheLargestIntegerAndOneAboveIt) {
  for (const char* line : {"2147483647\n", "2147483648\n", "00002147483647\n", "99999999\n"}) {
    expect_same_integer(line, kMax);
  }
  for (const char* line : {"41\n", "42\n", "43\n", "0000042\n", "9999999\n", "0\n", "\n"}) {
    expect_same_integer(line, 42);
  }
}

// The end of a search by characters for neither a digit nor a mark.
std::ptrdiff_t end_of_digits(const std::string& text, std::string_view marks) {
  return std::ranges::find_if_not(
             text, [&](char c) { return is_digit(c) || marks.find(c) != marks.npos; }) -
         text.begin();
}

template <char... kMarks>
std::ptrdiff_t skipped(const std::string& line) {
  const Line text(line);
  const char* p = text.begin();
  skip_digits<kMarks...>(p);
  return p - text.begin();
}

TEST(Fields, DigitsAndMarksAreSkippedToTheFirstOtherCharacter) {
  // Every character at every place of a word, behind marks and digits.
  for (std::size_t length = 0; length <= 17; ++length) {
    for (int behind = 0; behind < 256; ++behind) {
      std::string line;
      for (std::size_t k = 0; k < length; ++k) line += k % 3 == 1 ? '-' : '9';
      line += static_cast<char>(behind);
      line += "4-5\n";
      ASSERT_EQ(skipped<'-'>(line), end_of_digits(line, "-")) << testing::PrintToString(line);
    }
  }
  // Neighbours of digits and marks by one bit.
  const std::string some = "0918-:.,/;>*\xb0\xad\r";
  Rng rng(3);
  for (int n = 0; n < 20000; ++n) {
    std::string line;
    const std::size_t length = rng.below(30);
    for (std::size_t k = 0; k < length; ++k) line += some[rng.below(n % 2 == 0 ? some.size() : 7)];
    line += '\n';
    ASSERT_EQ((skipped<':', '.'>(line)), end_of_digits(line, ":.")) << testing::PrintToString(line);
    ASSERT_EQ(skipped<'-'>(line), end_of_digits(line, "-")) << testing::PrintToString(line);
    ASSERT_EQ(skipped<>(line), end_of_digits(line, "")) << testing::PrintToString(line);
  }
}

TEST(Fields, DatesHaveACharacter) {
  const auto end_of_date = [](const std::string& line) {
    const Line text(line);
    const char* p = text.begin();
    skip_date<'-'>(p, "a date");
    return p - text.begin();
  };
  EXPECT_EQ(end_of_date("2005-09-06\n"), 10);
  EXPECT_EQ(end_of_date("-\n"), 1);
  EXPECT_THROW(end_of_date(",2005\n"), LineError);
  EXPECT_THROW(end_of_date("\n"), LineError);
}

// The end of a search by characters.
std::ptrdiff_t end_of_field(const std::string& text, char separator) {
  const char* p = text.data();
  while (*p != separator && !at_line_end(p)) ++p;
  return p - text.data();
}

TEST(Fields, SkipsToTheSeparatorOrTheEndOfTheLine) {
  // Characters one bit off the wanted ones, and carriage returns that end no line.
  const std::string some = ",-+;:\r\v\t\x0b\xacz9\x01";
  Rng rng(2);
  for (int n = 0; n < 20000; ++n) {
    std::string line;
    const std::size_t length = rng.below(30);
    for (std::size_t k = 0; k < length; ++k) line += some[rng.below(n % 2 == 0 ? some.size() : 2)];
    const char separator = ",;\t"[rng.below(3)];
    line += n % 3 == 0 ? "\r\n" : "\n";
    const Line text(line);
    const char* p = text.begin();
    skip_to(p, separator);
    ASSERT_EQ(p - text.begin(), end_of_field(line, separator)) << testing::PrintToString(line);
  }
}

void expect_padding(const std::string& text, std::size_t begin, std::size_t bytes) {
  const ChunkedText chunked(text, begin, bytes);
  std::string joined = text.substr(0, begin);
  for (const TextChunk& chunk : chunked.chunks()) {
    EXPECT_EQ(chunk.offset, std::ssize(joined));
    joined.append(chunk.begin, chunk.end);
    if (&chunk == &chunked.chunks().back()) {
      EXPECT_EQ(std::string(chunk.end, kTextPadding - 1), std::string(kTextPadding - 1, '\0'));
    } else {
      EXPECT_LE(chunk.end - 1 + kTextPadding, text.data() + text.size());
    }
  }
  EXPECT_EQ(joined, text.ends_with('\n') ? text : text + '\n');
}

TEST(Fields, EveryLineOfAChunkIsFollowedByItsPadding) {
  for (const std::string& text :
       {std::string("1\n"), std::string("1\n2"), std::string("12345678\n"),
        std::string("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), std::string(4096, '\n') + "1"}) {
    for (std::size_t begin = 0; begin < std::min<std::size_t>(text.size(), 20); begin += 2) {
      for (const std::size_t bytes : {1, 3, 1 << 20}) {
        SCOPED_TRACE(testing::PrintToString(text.substr(0, 20)) + " from " + std::to_string(begin));
        expect_padding(text, begin, bytes);
      }
    }
  }
}

}  // namespace
}  // namespace mf
