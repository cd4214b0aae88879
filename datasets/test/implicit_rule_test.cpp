#include "datasets/implicit_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "datasets/test/requests.hpp"
#include "testing/reader_support.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

using test::error_of;
using test::parse_request;
using test::Table;
using test::table_of;
using test::write_file;

// Ratings 0.5, 1, ..., 5 with labels; low_users rate nothing above 2.
Dataset make_data(std::int32_t n_users, std::int32_t n_items, double density) {
  Rng rng(5);
  std::vector<Rating> list;
  Dataset data;
  AlignedVector<std::uint8_t> parts;
  for (std::int32_t u = 0; u < n_users; ++u) {
    const std::uint64_t most = u % 7 == 3 ? 4 : 10;
    for (std::int32_t i = 0; i < n_items; ++i) {
      if (rng.uniform() >= density) continue;
      const std::uint64_t top = i % 5 == 1 ? std::min<std::uint64_t>(most, 6) : most;
      list.push_back({u, i, 0.5F * static_cast<float>(1 + rng.below(top))});
      parts.push_back(static_cast<std::uint8_t>(rng.below(3)));
    }
  }
  data.parts = std::move(parts);
  data.ratings = test::ratings_of(n_users, n_items, list, {100, 3}, {7, 2});
  data.info.name = "made";
  data.info.scale = RatingScale{0.5F, 5, 0.5F};
  data.info.source_hash = "abc";
  return data;
}

// Straight from the definition, by original ids.
Table expected(const Dataset& data, const ImplicitRule& rule) {
  Table table;
  for (const auto& [pair, cell] : table_of(data)) {
    if (static_cast<double>(cell.first) < rule.min_rating) continue;
    table[pair] = {rule.value == ImplicitValue::binary ? 1.0F : cell.first, cell.second};
  }
  return table;
}

// And no user is left without a rating.
void expect_full(const Ratings& r) {
  test::expect_canonical(r);
  EXPECT_EQ(std::ssize(std::set<int>(r.users().begin(), r.users().end())), r.n_users());
  EXPECT_EQ(std::ssize(std::set<int>(r.items().begin(), r.items().end())), r.n_items());
}

TEST(ImplicitRule, KeepsWhatTheDefinitionKeeps) {
  for (const auto& [n_users, n_items, density] :
       {std::tuple{60, 40, 0.3}, {200, 31, 0.05}, {1, 1, 1.0}}) {
    const Dataset data = make_data(n_users, n_items, density);
    for (const double least : {0.5, 2.6, 4.0}) {
      for (const ImplicitValue value : {ImplicitValue::binary, ImplicitValue::rating}) {
        const ImplicitRule rule{least, value};
        const Table want = expected(data, rule);
        if (want.empty()) continue;
        const Dataset got = observed(data, rule, 3);
        EXPECT_EQ(table_of(got), want);
        expect_full(got.ratings);
        ASSERT_TRUE(got.info.implicit.has_value());
        const ImplicitInfo& info = *got.info.implicit;
        EXPECT_EQ(info.rule.min_rating, least);
        EXPECT_EQ(info.ratings_dropped, data.ratings.nnz() - std::ssize(want));
        EXPECT_EQ(info.users_dropped, data.ratings.n_users() - got.ratings.n_users());
        EXPECT_EQ(info.items_dropped, data.ratings.n_items() - got.ratings.n_items());
        EXPECT_EQ(got.info.content_hash, content_hash(got.ratings, 1));
        EXPECT_EQ(got.info.source_hash, "abc");
        EXPECT_EQ(got.info.scale.has_value(), value == ImplicitValue::rating);
      }
    }
  }
}

TEST(ImplicitRule, IsTheSameForAnyNumberOfThreads) {
  const Dataset data = make_data(2000, 300, 0.5);
  ASSERT_GT(data.ratings.nnz(), 4 << 16);  // several runs of rows
  const Dataset one = observed(data, {4, ImplicitValue::rating}, 1);
  for (const int threads : {2, 5}) {
    const Dataset many = observed(data, {4, ImplicitValue::rating}, threads);
    EXPECT_EQ(many.info.content_hash, one.info.content_hash);
    EXPECT_TRUE(std::ranges::equal(many.parts.all, one.parts.all));
  }
}

TEST(ImplicitRule, SaysWhatIsThereWhereNothingIsLeft) {
  const Dataset data = make_data(10, 10, 0.5);
  const Error error = error_of([&] { observed(data, {5.5}, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(),
             "made: implicit.min_rating 5.5 leaves no rating: found 5 as the highest");
  Dataset empty;
  EXPECT_HAS(error_of([&] { observed(empty, {1}, 1); }).what(), "found no rating at all");
}

class ImplicitEntry : public testing::Test {
 protected:
  ImplicitEntry() { environment_.set("MFBENCH_CACHE", cache_.path()); }
  test::TempFolder cache_;
  test::Environment environment_;
};

TEST_F(ImplicitEntry, IsAKeyBesideEveryForm) {
  const std::string rule = R"("implicit": {"min_rating": 4, "value": "rating"}})";
  for (const std::string form : {R"({"name": "ml-1m", )", R"({"like": "ml-1m", )",
                                 R"({"path": "r.csv", )", R"({"train": "a", "test": "b", )"}) {
    const DatasetRequest request = parse_request(form + rule);
    ASSERT_TRUE(request.implicit.has_value()) << form;
    EXPECT_EQ(request.implicit->min_rating, 4);
    EXPECT_EQ(request.implicit->value, ImplicitValue::rating);
  }
  EXPECT_FALSE(parse_request(R"("ml-1m")").implicit.has_value());
}

TEST_F(ImplicitEntry, IsInTheLabelAndNotInTheCache) {
  const auto plain = parse_request(R"({"like": "ml-1m", "scale": 0.5})");
  const auto binary =
      parse_request(R"({"like": "ml-1m", "scale": 0.5, "implicit": {"min_rating": 4}})");
  const auto rating = parse_request(
      R"({"like": "ml-1m", "scale": 0.5, "implicit": {"min_rating": 3.5, "value": "rating"}})");
  EXPECT_EQ(binary.label(), "ml-1m look-alike x0.5 implicit >=4");
  EXPECT_EQ(rating.label(), "ml-1m look-alike x0.5 implicit >=3.5 rating");
  EXPECT_EQ(binary.cache_name(), plain.cache_name());
  EXPECT_EQ(plain.identity(), plain.cache_name());
  EXPECT_NE(binary.identity(), plain.identity());
  EXPECT_NE(binary.identity(), rating.identity());
}

TEST_F(ImplicitEntry, ErrorsHaveTheJsonPath) {
  const auto error = [](const std::string& rule) {
    const Error found =
        error_of([&] { parse_request(R"({"name": "ml-1m", "implicit": )" + rule + "}"); });
    EXPECT_EQ(found.kind(), ErrorKind::usage);
    return std::string(found.what());
  };
  EXPECT_HAS(error("{}"), "$.implicit: the key \"min_rating\" is missing");
  EXPECT_HAS(error(R"({"min_rating": 0})"), "$.implicit.min_rating");
  EXPECT_HAS(error(R"({"min_rating": 4, "value": "count"})"), "$.implicit.value");
  EXPECT_HAS(error(R"({"min": 4})"), "$.implicit");
  EXPECT_HAS(error("true"), "$.implicit");
}

// One cached file serves all rules, and parts stay parts.
TEST_F(ImplicitEntry, IsAppliedToWhatWasLoaded) {
  const test::TempFolder files;
  const std::string train = files.path() + "/a.txt", held = files.path() + "/b.txt";
  write_file(train, "1 10 5\n1 11 2\n2 10 1\n3 12 4\n");
  write_file(held, "1 12 4\n2 11 3\n");
  const auto load = [&](const std::string& rule) {
    return load_dataset(
        parse_request(R"({"train": ")" + train + R"(", "test": ")" + held + '"' + rule + "}"), 2);
  };
  const Dataset all = load("");
  const Dataset four = load(R"(, "implicit": {"min_rating": 4})");
  EXPECT_EQ(all.ratings.nnz(), 6);
  EXPECT_FALSE(all.info.implicit.has_value());
  const Table want{{{1, 10}, {1, kTrain}}, {{1, 12}, {1, kTest}}, {{3, 12}, {1, kTrain}}};
  EXPECT_EQ(table_of(four), want);
  EXPECT_EQ(four.info.name, all.info.name + " implicit >=4");
  EXPECT_EQ(four.info.implicit->users_dropped, 1);
  EXPECT_EQ(four.info.implicit->items_dropped, 1);
  EXPECT_EQ(load("").ratings.nnz(), 6);  // and the cache holds them all
}

}  // namespace
}  // namespace mf
