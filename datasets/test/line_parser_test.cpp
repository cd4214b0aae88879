// Lines with any number of ratings: "user:item item item".
#include "datasets/readers/line_parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "datasets/readers/fields.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

struct Baskets : LineFormat {
  using Sink = ManySink;
  static std::int64_t most_ratings(const TextChunk& chunk, std::int64_t) {
    return std::count(chunk.begin, chunk.end, ' ');
  }
  void line(const char*& p, State&, ManySink& out) const {
    const std::int32_t user = read_id(p, "user");
    read_separator(p, ':', p, "user:");
    while (*p == ' ') {
      const std::int32_t item = read_id(++p, "item");
      out.add(user, item, static_cast<float>(item), {10 * item, 0});
    }
    read_line_end(p, "user: item item");
  }
};

// What is counted is less than what is there, as in a file that grows while it is read.
struct Grown : Baskets {
  static std::int64_t most_ratings(const TextChunk&, std::int64_t lines) { return lines; }
};

const std::string kText =
    "1: 7 8 9\n2:\n3: 1\n4: 5 6 7 8 9 10 11 12\n5:\n6: 2 3\n7:\n8: 40\n9: 50 60\n10:\n";

template <class Format>
RawRatings parse(const std::string& text, int threads, std::size_t chunk, bool leave_out = false) {
  ParseOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk;
  options.times = true;
  options.leave_out_damaged = leave_out;
  return parse_lines(Text{"baskets", {text, nullptr}}, 0, Format(), options);
}

using Ids = std::vector<std::int32_t>;

void expect_ratings(const RawRatings& raw, const Ids& users, const Ids& items) {
  EXPECT_EQ(Ids(raw.users.begin(), raw.users.end()), users);
  EXPECT_EQ(Ids(raw.items.begin(), raw.items.end()), items);
  ASSERT_EQ(raw.values.size(), items.size());
  ASSERT_EQ(raw.times.size(), items.size());
  for (std::size_t k = 0; k < items.size(); ++k) {
    EXPECT_EQ(raw.values[k], items[k]);
    EXPECT_EQ(raw.times[k], 10 * items[k]);
  }
}

TEST(LineParser, ALineGivesAnyNumberOfRatings) {
  const Ids users = {1, 1, 1, 3, 4, 4, 4, 4, 4, 4, 4, 4, 6, 6, 8, 9, 9};
  const Ids items = {7, 8, 9, 1, 5, 6, 7, 8, 9, 10, 11, 12, 2, 3, 40, 50, 60};
  for (const int threads : {1, 3}) {
    for (const std::size_t chunk : {1U, 5U, 12U, 30U, 1000U}) {
      expect_ratings(parse<Baskets>(kText, threads, chunk), users, items);
    }
  }
  expect_ratings(parse<Baskets>("1:\n2:\n", 1, 1), {}, {});
}

TEST(LineParser, ADamagedLineGivesNone) {
  const std::string text = "1: 2 3\n2: 4 5 x\n3: 6\n";
  for (const std::size_t chunk : {1U, 12U, 1000U}) {
    const Error error = test::error_of([&] { parse<Baskets>(text, 2, chunk); });
    EXPECT_HAS(error.what(), "baskets:2:8: found 'x'");
    expect_ratings(parse<Baskets>(text, 2, chunk, true), {1, 1, 3}, {2, 3, 6});
  }
}

TEST(LineParser, MoreRatingsThanCountedAreRefused) {
  for (const std::size_t chunk : {1U, 12U, 1000U}) {
    const Error error = test::error_of([&] { parse<Grown>(kText, 2, chunk); });
    EXPECT_HAS(error.what(), "found more ratings than before");
  }
}

}  // namespace
}  // namespace mf
