#include "datasets/ratings/ratings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/reader_support.hpp"

namespace mf {
namespace {

using test::expect_canonical;
using test::raw_of;

// Random ratings in random order; user u has an id of 7 u + 3. `skew` makes small users active.
RawRatings random_raw(std::uint64_t seed, std::int64_t count, std::int32_t n_users,
                      std::int32_t n_items, int skew) {
  Rng rng(seed);
  RawRatings raw;
  for (std::int64_t k = 0; k < count; ++k) {
    double x = 1;
    for (int s = 0; s <= skew; ++s) x *= rng.uniform();
    raw.users.push_back(7 * static_cast<std::int32_t>(x * n_users) + 3);
    raw.items.push_back(11 *
                        static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n_items))));
    raw.values.push_back(static_cast<float>(rng.below(1000)) / 8.0F);
  }
  return raw;
}

// The definition, by a map: pair of original ids -> values in the file's order.
using Reference = std::map<std::pair<std::int32_t, std::int32_t>, std::vector<float>>;
Reference reference_of(const RawRatings& raw) {
  Reference map;
  for (std::size_t k = 0; k < raw.values.size(); ++k) {
    map[{raw.users[k], raw.items[k]}].push_back(raw.values[k]);
  }
  return map;
}

float resolve(const std::vector<float>& values, DuplicatePolicy policy) {
  if (policy == DuplicatePolicy::last) return values.back();
  if (policy == DuplicatePolicy::max) return *std::max_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (policy == DuplicatePolicy::sum) return static_cast<float>(sum);
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

void expect_is(const Ratings& r, const Reference& expected, DuplicatePolicy policy) {
  ASSERT_EQ(r.nnz(), static_cast<std::int64_t>(expected.size()));
  std::set<std::int32_t> users;
  std::set<std::int32_t> items;
  std::int64_t i = 0;
  for (const auto& [pair, values] : expected) {
    users.insert(pair.first);
    items.insert(pair.second);
    const Rating rating = r[i++];
    ASSERT_EQ(r.user_ids()[rating.user], pair.first);
    ASSERT_EQ(r.item_ids()[rating.item], pair.second);
    ASSERT_EQ(rating.value, resolve(values, policy));
  }
  EXPECT_TRUE(std::equal(users.begin(), users.end(), r.user_ids().begin(), r.user_ids().end()));
  EXPECT_TRUE(std::equal(items.begin(), items.end(), r.item_ids().begin(), r.item_ids().end()));
}

std::string message_of(const std::function<void()>& body, ErrorKind kind) {
  const Error error = test::error_of(body);
  EXPECT_EQ(error.kind(), kind) << error.what();
  return error.what();
}

struct Form {
  std::int64_t count;
  std::int32_t n_users, n_items;
  int skew;
};

class MakeRatings : public testing::TestWithParam<Form> {};

// Sizes below and above one sort bucket; digits of zero, one and two radix passes; one user with
// most of the ratings; more ids than ratings.
INSTANTIATE_TEST_SUITE_P(Forms, MakeRatings,
                         testing::Values(Form{1, 1, 1, 0}, Form{2000, 1, 5000, 0},
                                         Form{2000, 5000, 1, 0}, Form{5000, 300, 200, 0},
                                         Form{120000, 3000, 5000, 0}, Form{120000, 100, 4000, 3},
                                         Form{60000, 1, 9000, 0}, Form{5000, 1000000, 3, 0}));

TEST_P(MakeRatings, EqualsTheDefinitionForAnyNumberOfThreads) {
  const Form form = GetParam();
  const RawRatings raw = random_raw(17, form.count, form.n_users, form.n_items, form.skew);
  const Reference expected = reference_of(raw);
  const auto repeated = std::count_if(expected.begin(), expected.end(),
                                      [](const auto& entry) { return entry.second.size() > 1; });
  for (const auto policy :
       {DuplicatePolicy::last, DuplicatePolicy::mean, DuplicatePolicy::sum, DuplicatePolicy::max}) {
    std::set<std::uint64_t> hashes;
    for (const int threads : {1, 2, 3, 8}) {
      DuplicateReport report;
      const Ratings r = make_ratings(raw, policy, threads, "test", &report);
      expect_canonical(r);
      if (HasFatalFailure()) return;
      expect_is(r, expected, policy);
      EXPECT_EQ(report.pairs, repeated);
      EXPECT_EQ(report.dropped, form.count - static_cast<std::int64_t>(expected.size()));
      hashes.insert(content_hash(r, threads));
    }
    EXPECT_EQ(hashes.size(), 1U);
  }
}

// The definition: the ratings by user, appended to their items.
void expect_columns(const Ratings& r) {
  std::vector<std::vector<std::pair<std::int32_t, float>>> columns(r.n_items());
  for (std::int64_t i = 0; i < r.nnz(); ++i) {
    columns[r[i].item].emplace_back(r[i].user, r[i].value);
  }
  for (const int threads : {1, 2, 3}) {
    const Csc csc = make_csc(r, threads);
    ASSERT_EQ(csc.item_offsets.size(), columns.size() + 1);
    ASSERT_EQ(csc.users.size(), static_cast<std::size_t>(r.nnz()));
    std::size_t k = 0;
    for (std::size_t item = 0; item < columns.size(); ++item) {
      ASSERT_EQ(csc.item_offsets[item], static_cast<std::int64_t>(k));
      for (const auto& [user, value] : columns[item]) {
        ASSERT_EQ(csc.users[k], user);
        ASSERT_EQ(csc.values[k++], value);
      }
    }
    ASSERT_EQ(csc.item_offsets.back(), static_cast<std::int64_t>(k));
  }
}

TEST_P(MakeRatings, ColumnViewEqualsTheDefinition) {
  const Form form = GetParam();
  expect_columns(make_ratings(random_raw(5, form.count, form.n_users, form.n_items, form.skew),
                              DuplicatePolicy::last, 2, "test"));
}

// Rows and columns of which few have two ratings: a key of user and item takes more than 32 bits.
TEST(Ratings, ManyRowsAndColumnsAreSortedByLongKeys) {
  const RawRatings raw = random_raw(5, 200'000, 300'000, 300'000, 0);
  const auto expected = reference_of(raw);
  ASSERT_GT(expected.size(), 190'000U);
  const Ratings made = make_ratings(raw, DuplicatePolicy::last, 2, "mine");
  expect_canonical(made);
  expect_is(made, expected, DuplicatePolicy::last);
  expect_columns(made);
}

// As the files of Netflix: rows by users have their items in order.
TEST(Ratings, InputInTheOrderOfItemsIsTheSame) {
  RawRatings raw = random_raw(6, 90'000, 3000, 400, 1);
  std::vector<std::int64_t> order(raw.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return raw.items[a] < raw.items[b]; });
  RawRatings by_item;
  for (const std::int64_t i : order) {
    by_item.users.push_back(raw.users[i]);
    by_item.items.push_back(raw.items[i]);
    by_item.values.push_back(raw.values[i]);
  }
  const auto expected = reference_of(raw);
  ASSERT_LT(expected.size(), raw.values.size()) << "no duplicates";
  for (const DuplicatePolicy policy : {DuplicatePolicy::last, DuplicatePolicy::mean}) {
    const Ratings made = make_ratings(by_item, policy, 2, "mine");
    expect_canonical(made);
    expect_is(made, expected, policy);
  }
}

TEST(Ratings, ASumBeyondFloatsStaysFinite) {
  const Ratings r = make_ratings(raw_of({{1, 5, 3e38F}, {1, 5, 3e38F}, {4, 5, 3}}),
                                 DuplicatePolicy::sum, 1, "test");
  EXPECT_EQ(r[0].value, std::numeric_limits<float>::max());
}

TEST(Ratings, SortedInputKeepsItsOrderAndItsDuplicatesAreResolved) {
  const Ratings r =
      make_ratings(raw_of({{1, 5, 1}, {1, 9, 2}, {4, 5, 3}}), DuplicatePolicy::error, 2, "test");
  expect_canonical(r);
  EXPECT_EQ(r.n_users(), 2);
  EXPECT_EQ(r.n_items(), 2);
  EXPECT_EQ(r[2].value, 3);
  const Ratings resolved =
      make_ratings(raw_of({{1, 5, 1}, {1, 5, 2}, {4, 5, 3}}), DuplicatePolicy::last, 1, "test");
  ASSERT_EQ(resolved.nnz(), 2);
  EXPECT_EQ(resolved[0].value, 2);
}

TEST(Ratings, LargestAndSmallestIds) {
  const std::int32_t max = 2147483647;
  const Ratings r = make_ratings(raw_of({{max, 0, 1}, {0, max, 2}, {64, 63, 3}}),
                                 DuplicatePolicy::error, 2, "test");
  EXPECT_EQ(std::vector<std::int32_t>(r.user_ids().begin(), r.user_ids().end()),
            (std::vector<std::int32_t>{0, 64, max}));
  EXPECT_EQ(std::vector<std::int32_t>(r.item_ids().begin(), r.item_ids().end()),
            (std::vector<std::int32_t>{0, 63, max}));
  EXPECT_EQ(r[0].value, 2);
  EXPECT_EQ(r[2].value, 1);
}

TEST(Ratings, NoRatings) {
  for (const int threads : {1, 3}) {
    const Ratings r = make_ratings({}, DuplicatePolicy::error, threads, "test");
    EXPECT_EQ(r.nnz(), 0);
    EXPECT_EQ(r.n_users(), 0);
    EXPECT_EQ(r.user_offsets().size(), 1U);
    EXPECT_EQ(mean_rating(r), 0);
    EXPECT_EQ(make_csc(r, threads).item_offsets.size(), 1U);
    EXPECT_EQ(content_hash(r, threads), content_hash(Ratings(), 1));
    EXPECT_EQ(select(r, {}, 0, threads).nnz(), 0);
    EXPECT_EQ(select(Ratings(), {}, 0, threads).nnz(), 0);
  }
}

TEST(Ratings, ErrorPolicyNamesTheFirstPairAndHowOften) {
  const RawRatings raw = raw_of({{9, 8, 1}, {70, 3, 2}, {9, 8, 1}, {70, 3, 4}, {9, 8, 5}});
  const std::string message =
      message_of([&] { make_ratings(raw, DuplicatePolicy::error, 2, "my.csv"); }, ErrorKind::data);
  EXPECT_HAS(message, "my.csv: found 3 ratings of user 9 and item 8 (2 such pairs");
}

TEST(Ratings, RefusesArraysThatDoNotFit) {
  RawRatings raw = raw_of({{1, 1, 1}, {2, 2, 2}});
  raw.items.pop_back();
  message_of([&] { make_ratings(raw, DuplicatePolicy::last, 1, "x"); }, ErrorKind::data);
  message_of(
      [&] {
        make_ratings(raw_of({{-1, 1, 1}}), DuplicatePolicy::last, 1, "x");
      },
      ErrorKind::data);
  Ratings::Arrays arrays;
  arrays.users = {0};
  arrays.items = {0};
  arrays.values = {1};
  arrays.user_offsets = {0, 2};  // the last must be nnz
  arrays.user_ids = {1};
  arrays.item_ids = {1};
  message_of([&] { Ratings r(arrays); }, ErrorKind::data);
  arrays.user_offsets = {0, 1};
  EXPECT_EQ(Ratings(arrays).nnz(), 1);
  EXPECT_EQ(Ratings(arrays).bytes(), 4 * 3 + 8 * 2 + 4 * 2);
  arrays.users = {0, 0};
  message_of([&] { Ratings r(arrays); }, ErrorKind::data);
}

TEST(Ratings, WithoutUsersHaveThoseOfTheirRows) {
  Ratings::Arrays arrays;
  arrays.items = {4, 1, 2};
  arrays.values = {1, 2, 3};
  arrays.user_offsets = {0, 1, 1, 3, 3};
  arrays.user_ids = {5, 6, 7, 8};
  arrays.item_ids = {0, 1, 2, 3, 4};
  const Ratings ratings(arrays);
  EXPECT_FALSE(ratings.has_users());
  EXPECT_EQ(ratings[2].user, 2);
  EXPECT_TRUE(ratings.has_users());
  EXPECT_TRUE(std::ranges::equal(ratings.users(), std::vector<std::int32_t>{0, 2, 2}));
  EXPECT_TRUE(Ratings().has_users());
}

TEST(Ratings, MeanIsThatOfALongSum) {
  const Ratings r =
      make_ratings(random_raw(3, 100003, 500, 4000, 1), DuplicatePolicy::last, 1, "test");
  long double sum = 0;
  for (const float v : r.values()) sum += static_cast<long double>(v);
  EXPECT_NEAR(mean_rating(r), static_cast<double>(sum) / static_cast<double>(r.nnz()), 1e-12);
}

TEST(Ratings, SelectPartsTheRatingsAndSharesTheIds) {
  const Ratings all =
      make_ratings(random_raw(9, 90000, 700, 3000, 2), DuplicatePolicy::last, 2, "test");
  Rng rng(4);
  std::vector<std::uint8_t> labels(all.nnz());
  for (auto& label : labels) label = static_cast<std::uint8_t>(rng.below(3));
  for (const int threads : {1, 3}) {
    for (std::uint8_t label = 0; label < 4; ++label) {  // nothing has label 3
      const Ratings part = select(all, labels, label, threads);
      expect_canonical(part);
      EXPECT_EQ(part.user_ids().data(), all.user_ids().data());
      EXPECT_EQ(part.item_ids().data(), all.item_ids().data());
      std::int64_t k = 0;
      for (std::int64_t i = 0; i < all.nnz(); ++i) {
        if (labels[i] != label) continue;
        ASSERT_LT(k, part.nnz());
        ASSERT_EQ(part[k].user, all[i].user);
        ASSERT_EQ(part[k].item, all[i].item);
        ASSERT_EQ(part[k++].value, all[i].value);
      }
      EXPECT_EQ(k, part.nnz());
    }
  }
  message_of([&] { select(all, std::span(labels).first(3), 0, 1); }, ErrorKind::usage);
}

TEST(Ratings, SelectionOutlivesWhatItWasTakenFrom) {
  Ratings part;
  {
    const Ratings all =
        make_ratings(raw_of({{1, 5, 1}, {1, 9, 2}, {4, 5, 3}}), DuplicatePolicy::error, 1, "test");
    const std::vector<std::uint8_t> labels = {0, 1, 1};
    part = select(all, labels, 1, 1);
  }
  ASSERT_EQ(part.nnz(), 2);
  EXPECT_EQ(part.user_ids()[1], 4);
  EXPECT_EQ(part.item_ids()[1], 9);
  EXPECT_EQ(part[1].value, 3);
}

TEST(Ratings, HashDependsOnEveryArray) {
  const auto hash = [](const std::vector<Rating>& ratings) {
    return content_hash(make_ratings(raw_of(ratings), DuplicatePolicy::error, 1, "test"), 1);
  };
  const std::set<std::uint64_t> hashes = {
      hash({{1, 5, 1}, {2, 6, 2}}), hash({{1, 5, 1}, {3, 6, 2}}), hash({{1, 5, 1}, {2, 7, 2}}),
      hash({{1, 6, 1}, {2, 5, 2}}), hash({{1, 5, 1}, {2, 6, 3}}), hash({{1, 5, 1}})};
  EXPECT_EQ(hashes.size(), 6U);
  EXPECT_EQ(hash({{2, 6, 2}, {1, 5, 1}}), hash({{1, 5, 1}, {2, 6, 2}}));
}

}  // namespace
}  // namespace mf
