// The matrix of ratings that came in parts, against a stable sort, whatever the plan of buckets was
// made from: a sample decides how fast it goes, never what comes out.
#include "datasets/ratings/rating_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {
namespace {

constexpr std::int32_t kMaxId = std::numeric_limits<std::int32_t>::max();

// Where the ids of a side lie.
struct Ids {
  std::int32_t first, step, count;
  std::int32_t from = 0;  // so many of them first, the rest from here on: two clusters
  std::int32_t draw(Rng& rng) const {
    const auto k = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(count)));
    return first + step * k + (from > 0 && k % 2 == 1 ? from : 0);
  }
};

RawRatings random_raw(std::uint64_t seed, std::int64_t count, Ids users, Ids items) {
  Rng rng(seed);
  RawRatings raw;
  for (std::int64_t k = 0; k < count; ++k) {
    raw.users.push_back(users.draw(rng));
    raw.items.push_back(items.draw(rng));
    raw.values.push_back(static_cast<float>(k));  // tells equal pairs apart
  }
  return raw;
}

RatingSample good_sample(const RawRatings& raw) {
  RatingSample sample;
  sample.count = std::ssize(raw.users);
  for (std::int64_t k = 0; k < sample.count; k += 7) {
    sample.users.push_back(raw.users[k]);
    sample.items.add({raw.items[k], raw.items[k]});
  }
  return sample;
}

// So that there are many buckets, whatever the ratings.
RatingSample as_if_many(RatingSample sample) {
  sample.count = std::int64_t{1} << 40;
  return sample;
}

// In parts of unequal sizes, batches of few ratings.
void fill(RatingParts& parts, const RawRatings& raw, RatingSample sample, std::int64_t n_parts,
          ThreadTeam& team) {
  parts.plan(std::move(sample), n_parts);
  const std::int64_t count = std::ssize(raw.users);
  team.for_chunks(n_parts, 1, [&](std::int64_t p, std::int64_t) {
    const std::int64_t begin = count * p * p / (n_parts * n_parts);
    const std::int64_t end = count * (p + 1) * (p + 1) / (n_parts * n_parts);
    for (std::int64_t at = begin; at < end; at += 100) {
      parts.part(p).add({raw.users.data() + at, raw.items.data() + at, raw.values.data() + at,
                         std::min<std::int64_t>(100, end - at)});
    }
    parts.part(p).close();
  });
}

std::vector<std::int32_t> ascending(const AlignedVector<std::int32_t>& ids) {
  const std::set<std::int32_t> all(ids.begin(), ids.end());
  return {all.begin(), all.end()};
}

// The last of equal pairs stays.
void expect_sorted(const Ratings& made, const RawRatings& raw) {
  std::vector<std::int64_t> order(raw.users.size());
  std::iota(order.begin(), order.end(), 0);
  const auto pair = [&](std::int64_t k) { return std::pair(raw.users[k], raw.items[k]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return pair(a) < pair(b); });
  ASSERT_EQ(std::vector<std::int32_t>(made.user_ids().begin(), made.user_ids().end()),
            ascending(raw.users));
  ASSERT_EQ(std::vector<std::int32_t>(made.item_ids().begin(), made.item_ids().end()),
            ascending(raw.items));
  std::int64_t to = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k + 1 < order.size() && pair(order[k]) == pair(order[k + 1])) continue;
    ASSERT_LT(to, made.nnz());
    const Rating rating = made[to];
    ASSERT_EQ(made.user_ids()[rating.user], raw.users[order[k]]);
    ASSERT_EQ(made.item_ids()[rating.item], raw.items[order[k]]);
    ASSERT_EQ(rating.value, raw.values[order[k]]);
    ASSERT_LE(made.user_offsets()[rating.user], to);
    ASSERT_LT(to++, made.user_offsets()[rating.user + 1]);
  }
  ASSERT_EQ(to, made.nnz());
}

struct Form {
  std::string name;
  std::int64_t count;
  Ids users, items;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class Parts : public testing::TestWithParam<Form> {
 protected:
  void expect_same_for(const RawRatings& raw, const RatingSample& sample) {
    for (const int threads : {1, 3}) {
      for (const std::int64_t n_parts : {1, 2, 9}) {
        ThreadTeam team(threads);
        RatingParts parts;
        fill(parts, raw, sample, n_parts, team);
        ASSERT_EQ(parts.ratings(), std::ssize(raw.users));
        expect_sorted(make_ratings(parts, DuplicatePolicy::last, threads, "test"), raw);
        if (HasFatalFailure()) return;
      }
    }
  }
  RawRatings raw() const {
    return random_raw(5, GetParam().count, GetParam().users, GetParam().items);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Forms, Parts,
    testing::Values(Form{"one", 1, {7, 1, 1}, {9, 1, 1}},
                    Form{"few_pairs", 5000, {0, 1, 40}, {0, 1, 30}},
                    Form{"ranges", 20000, {1, 1, 900}, {1, 1, 300}},
                    Form{"gaps", 20000, {3, 7, 5000}, {5, 11, 4000}},
                    Form{"one_user", 20000, {5, 1, 1}, {0, 3, 30000}},
                    Form{"one_item", 20000, {0, 5, 60000}, {8, 1, 1}},
                    Form{"large_ids", 20000, {kMaxId - 4000, 1, 4000}, {kMaxId - 90, 1, 90}},
                    Form{"far_apart", 20000, {0, 100000, 20000}, {0, 100000, 20000}},
                    Form{"clusters", 20000, {1, 1, 3000, 2000000000}, {0, 1, 50}}),
    [](const auto& test) { return test.param.name; });

TEST_P(Parts, AreSorted) { expect_same_for(raw(), good_sample(raw())); }

TEST_P(Parts, AreSortedInManyBuckets) { expect_same_for(raw(), as_if_many(good_sample(raw()))); }

// Of one rating, the least: other ids have no room, and do not fit short elements.
TEST_P(Parts, AreSortedWhereTheSampleMisleads) {
  RatingSample sample;
  const RawRatings all = raw();
  sample.users = {*std::min_element(all.users.begin(), all.users.end())};
  sample.items.add({0, 0});
  sample.count = 1;
  expect_same_for(all, sample);
  sample.users = {kMaxId};
  expect_same_for(all, as_if_many(sample));
}

// Long elements from the middle of a part on; equal pairs stand in both.
TEST(RatingPartsOfAFile, IdsGrowWithinAPart) {
  RawRatings raw = random_raw(1, 6000, {0, 1, 50}, {0, 1, 20});
  const RawRatings more = random_raw(2, 6000, {0, 40000000, 50}, {0, 1, 20});
  RatingSample sample = good_sample(raw);
  raw.users.insert(raw.users.end(), more.users.begin(), more.users.end());
  raw.items.insert(raw.items.end(), more.items.begin(), more.items.end());
  for (const float value : more.values) raw.values.push_back(6000 + value);
  for (const std::int64_t n_parts : {1, 3}) {
    ThreadTeam team(2);
    RatingParts parts;
    fill(parts, raw, as_if_many(sample), n_parts, team);
    EXPECT_NE(parts.part(0).first(), nullptr);
    EXPECT_NE(parts.part(n_parts - 1).then(), nullptr);
    expect_sorted(make_ratings(parts, DuplicatePolicy::last, 2, "test"), raw);
  }
}

// What the sort relies on: buckets ascend with the ids of users, and each begins with its first.
TEST_P(Parts, BucketsAreInTheOrderOfUsers) {
  const RawRatings all = raw();
  const BucketPlan plan(as_if_many(good_sample(all)));
  const std::vector<std::int32_t> users = ascending(all.users);
  plan.with([&](const auto& bucket_of) {
    std::size_t before = 0;
    for (const std::int32_t user : users) {
      const std::size_t bucket = bucket_of(user);
      ASSERT_LE(before, bucket);
      ASSERT_LT(bucket, static_cast<std::size_t>(plan.count()));
      if (bucket > 0) {
        ASSERT_LE(plan.first_user(bucket), user);
      }
      before = bucket;
    }
  });
  EXPECT_LE(plan.count(), std::ssize(users));
}

TEST(RatingPartsOfAFile, ClustersOfIdsStillHaveManyBuckets) {
  const RawRatings raw = random_raw(5, 50000, {1, 1, 3000, 2000000000}, {0, 1, 50});
  EXPECT_GT(BucketPlan(as_if_many(good_sample(raw))).count(), 500);
}

}  // namespace
}  // namespace mf
