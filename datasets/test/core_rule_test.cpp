#include "datasets/core_rule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
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

// Popular users and items, and many with a rating or two.
Dataset make_data(std::uint64_t seed, std::int32_t n_users, std::int32_t n_items, double density) {
  Rng rng(seed);
  std::vector<Rating> list;
  Dataset data;
  for (std::int32_t u = 0; u < n_users; ++u) {
    const double eager = 2 * rng.uniform() * rng.uniform();
    for (std::int32_t i = 0; i < n_items; ++i) {
      if (rng.uniform() >= density * eager * (i % 4 == 0 ? 3 : 0.5)) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
      data.parts.push_back(static_cast<std::uint8_t>(rng.below(3)));
    }
  }
  data.ratings = test::ratings_of(n_users, n_items, list, {100, 3}, {7, 2});
  data.info.name = "made";
  return data;
}

std::pair<std::map<int, int>, std::map<int, int>> degrees_of(const Table& table) {
  std::map<int, int> users, items;
  for (const auto& [pair, cell] : table) {
    ++users[pair.first];
    ++items[pair.second];
  }
  return {users, items};
}

// One rating at a time, the first that must go, until none must: the order differs from the rounds,
// but the rest is the same, the largest such part, as only ratings in no such part are dropped.
Table expected(Table table, const CoreRule& rule) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto [users, items] = degrees_of(table);
    for (auto at = table.rbegin(); at != table.rend(); ++at) {
      const auto [user, item] = at->first;
      if (users.at(user) >= rule.users && items.at(item) >= rule.items) continue;
      table.erase(at->first);
      changed = true;
      break;
    }
  }
  return table;
}

TEST(CoreRule, IsTheLargestPartInWhichAllHaveEnough) {
  int empty = 0, partial = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Dataset data = make_data(seed, 25, 18, 0.25);
    for (const CoreRule rule : {CoreRule{2, 2}, CoreRule{3, 3}, CoreRule{1, 4}, CoreRule{5, 2}}) {
      const Table want = expected(table_of(data), rule);
      if (want.empty()) {
        ++empty;
        EXPECT_HAS(error_of([&] { core_of(data, rule, 1); }).what(), "made: core: nothing is left");
        continue;
      }
      const Dataset got = core_of(data, rule, 3);
      partial += got.ratings.nnz() < data.ratings.nnz() ? 1 : 0;
      EXPECT_EQ(table_of(got), want) << seed << " " << rule.users << "x" << rule.items;
      test::expect_canonical(got.ratings);
      const auto [users, items] = degrees_of(want);
      EXPECT_EQ(got.ratings.n_users(), std::ssize(users));
      EXPECT_EQ(got.ratings.n_items(), std::ssize(items));
      ASSERT_TRUE(got.info.core.has_value());
      const Dropped& dropped = got.info.core->dropped;
      EXPECT_EQ(dropped.ratings, data.ratings.nnz() - std::ssize(want));
      EXPECT_EQ(dropped.users, data.ratings.n_users() - std::ssize(users));
      EXPECT_EQ(dropped.items, data.ratings.n_items() - std::ssize(items));
      EXPECT_EQ(got.info.content_hash, content_hash(got.ratings, 1));
      const Dataset again = core_of(got, rule, 2);
      EXPECT_EQ(again.info.core->rounds, 0);
      EXPECT_EQ(again.info.content_hash, got.info.content_hash);
    }
  }
  EXPECT_GE(empty, 3);
  EXPECT_GT(partial, 20);
}

// User u rated the items u and u + 1, and the pair (n, n) is missing: dropping one end takes the
// chain apart, a link each round.
TEST(CoreRule, CountsItsRounds) {
  constexpr std::int32_t kLinks = 6;
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < kLinks; ++u) {
    list.push_back({u, u, 1});
    list.push_back({u, u + 1, 1});
  }
  for (std::int32_t u = kLinks; u < kLinks + 2; ++u)  // a block that stays
    for (std::int32_t i = kLinks + 1; i < kLinks + 3; ++i) list.push_back({u, i, 1});
  Dataset data;
  data.ratings = test::ratings_of(kLinks + 2, kLinks + 3, list);
  const Dataset core = core_of(data, {2, 2}, 1);
  EXPECT_EQ(core.ratings.nnz(), 4);
  // Items 0 and 6 go first, then users 0 and 5 with items 1 and 5, ...
  EXPECT_EQ(core.info.core->rounds, 1 + kLinks / 2);
  EXPECT_EQ(core.info.core->dropped.users, kLinks);
}

TEST(CoreRule, IsTheSameForAnyNumberOfThreads) {
  const Dataset data = make_data(3, 3000, 400, 0.2);
  ASSERT_GT(data.ratings.nnz(), 1 << 16);  // several chunks
  const Dataset one = core_of(data, {45, 200}, 1);
  EXPECT_GT(one.info.core->rounds, 1);
  for (const int threads : {2, 5}) {
    const Dataset many = core_of(data, {45, 200}, threads);
    EXPECT_EQ(many.info.content_hash, one.info.content_hash);
    EXPECT_EQ(many.info.core->rounds, one.info.core->rounds);
    EXPECT_EQ(many.parts, one.parts);
  }
}

class CoreEntry : public testing::Test {
 protected:
  CoreEntry() { environment_.set("MFBENCH_CACHE", cache_.path()); }
  test::TempFolder cache_;
  test::Environment environment_;
};

TEST_F(CoreEntry, IsANumberOrTwo) {
  const auto of = [](const std::string& core) {
    return parse_request(R"({"name": "ml-1m", "core": )" + core + "}");
  };
  const auto both = of("5"), two = of(R"({"users": 5, "items": 3})"), one = of(R"({"items": 10})");
  EXPECT_EQ(both.core->users, 5);
  EXPECT_EQ(both.core->items, 5);
  EXPECT_EQ(both.label(), "ml-1m core 5");
  EXPECT_EQ(two.label(), "ml-1m core 5x3");
  EXPECT_EQ(one.core->users, 1);
  EXPECT_EQ(one.label(), "ml-1m core 1x10");
  EXPECT_EQ(of(R"({"users": 5, "items": 5})").identity(), both.identity());
  EXPECT_NE(two.identity(), both.identity());
  EXPECT_EQ(two.cache_name(), "ml-1m");
  for (const char* wrong : {"1", "{}", R"({"users": 1})", "2.5", "true", R"({"user": 5})"}) {
    const Error error = error_of([&] { of(wrong); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << wrong;
    EXPECT_HAS(error.what(), "$.core") << wrong;
  }
}

// After the rule for implicit feedback: ratings below it do not count.
TEST_F(CoreEntry, FollowsTheRuleForImplicitFeedback) {
  const test::TempFolder files;
  test::write_file(files.path() + "/r.txt", "1 1 5\n1 2 5\n2 1 5\n2 2 5\n3 1 5\n3 2 1\n3 3 1\n");
  const auto load = [&](const std::string& rules) {
    return load_dataset(parse_request(R"({"path": ")" + files.path() + "/r.txt\"" + rules + "}"),
                        1);
  };
  EXPECT_EQ(load(R"(, "core": 2)").ratings.n_users(), 3);
  const Dataset both = load(R"(, "implicit": {"min_rating": 4}, "core": 2)");
  EXPECT_EQ(both.ratings.n_users(), 2);
  EXPECT_EQ(both.info.implicit->dropped.ratings, 2);
  EXPECT_EQ(both.info.core->dropped.ratings, 1);
  EXPECT_EQ(both.info.name, "r.txt implicit >=4 core 2");
  EXPECT_EQ(load("").ratings.nnz(), 7);  // the cache holds them all
}

}  // namespace
}  // namespace mf
