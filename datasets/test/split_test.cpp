#include "datasets/split/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/host/isa.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "datasets/ratings/select_parts.hpp"
#include "datasets/split/draw.hpp"
#include "datasets/test/split_specs.hpp"
#include "testing/test_support.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

using test::cut_at;
using test::fold_of;
using test::holdout;
using test::leave_last;
using test::leave_out;
using test::Triple;
using test::triples;
using test::users;

// Users 0, 1, ... with 0, 1, 2, ... up to many ratings of random items; some items unrated.
Dataset make_data(std::int32_t n_users, std::int32_t n_items, std::uint64_t seed = 7) {
  Rng rng(seed);
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < n_users; ++u) {
    const double share = rng.uniform() * rng.uniform();
    for (std::int32_t i = 0; i < n_items; ++i) {
      if (rng.uniform() >= share) continue;
      list.push_back({u, i, static_cast<float>(1 + rng.below(5))});
    }
  }
  Dataset data;
  data.info.name = "made";
  data.ratings = test::ratings_of(n_users, n_items, list, {10}, {100, 2});
  return data;
}

std::int64_t count_of(std::span<const std::int32_t> ids, std::int32_t id) {
  return std::count(ids.begin(), ids.end(), id);
}

// The parts are canonical, pairwise disjoint, and together all ratings over the same ids.
void expect_partition(const Dataset& data, const Split& split) {
  std::vector<Triple> merged;
  for (const Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in}) {
    const auto of_part = triples(*part);
    EXPECT_TRUE(std::is_sorted(of_part.begin(), of_part.end()));
    EXPECT_EQ(part->n_users(), data.ratings.n_users());
    EXPECT_EQ(part->n_items(), data.ratings.n_items());
    EXPECT_TRUE(std::ranges::equal(part->user_ids(), data.ratings.user_ids()));
    EXPECT_TRUE(std::ranges::equal(part->item_ids(), data.ratings.item_ids()));
    merged.insert(merged.end(), of_part.begin(), of_part.end());
  }
  std::sort(merged.begin(), merged.end());
  EXPECT_EQ(merged, triples(data.ratings));  // no pair occurs twice in the data, so also disjoint
}

struct Cold {
  std::int64_t users, items, ratings;
};

// Straight from the definition, with sets.
Cold brute_force_cold(const Split& split) {
  const auto train_users = split.train.users();
  const auto train_items = split.train.items();
  const std::set<std::int32_t> warm_users(train_users.begin(), train_users.end());
  const std::set<std::int32_t> warm_items(train_items.begin(), train_items.end());
  std::set<std::int32_t> users, items;
  std::int64_t ratings = 0;
  for (const auto& [u, i, value] : triples(split.test)) {
    if (!warm_users.contains(u)) users.insert(u);
    if (!warm_items.contains(i)) items.insert(i);
    ratings += !warm_users.contains(u) || !warm_items.contains(i) ? 1 : 0;
  }
  return {static_cast<std::int64_t>(users.size()), static_cast<std::int64_t>(items.size()),
          ratings};
}

std::int64_t row_size(const Ratings& ratings, std::int32_t u) {
  return ratings.user_offsets()[u + 1] - ratings.user_offsets()[u];
}

// Users with a rating in this part.
std::set<std::int32_t> users_of(const Ratings& ratings) {
  return {ratings.users().begin(), ratings.users().end()};
}

ErrorKind kind_of_error(const Dataset& data, const SplitSpec& spec, const std::string& part) {
  const Error error = test::error_of([&] { make_split(data, spec, 2); });
  EXPECT_HAS(error.what(), part);
  return error.kind();
}

// By another number of threads, or of ratings that are given back.
void expect_same(const Split& a, const Split& b) {
  EXPECT_TRUE(triples(a.train) == triples(b.train));
  EXPECT_TRUE(triples(a.test) == triples(b.test));
  EXPECT_TRUE(triples(a.validation) == triples(b.validation));
  EXPECT_TRUE(triples(a.fold_in) == triples(b.fold_in));
  EXPECT_EQ(a.cold_ratings, b.cold_ratings);
}

TEST(Holdout, PartitionsInExactSizes) {
  const Dataset data = make_data(200, 90);
  const auto nnz = data.ratings.nnz();
  for (const double test : {0.0, 0.001, 0.1, 0.2, 0.5, 0.93}) {
    for (const double validation : {0.0, 0.05, 0.5}) {
      const Split split = make_split(data, holdout(test, validation), 2);
      const auto n_test = std::llround(test * static_cast<double>(nnz));
      EXPECT_EQ(split.test.nnz(), n_test);
      EXPECT_EQ(split.validation.nnz(),
                std::llround(validation * static_cast<double>(nnz - n_test)));
      expect_partition(data, split);
    }
  }
}

TEST(Holdout, SmallestDataSet) {
  Dataset data;
  data.ratings = test::ratings_of(1, 2, {{0, 0, 3}, {0, 1, 4}});
  const Split split = make_split(data, holdout(0.5), 3);
  EXPECT_EQ(split.train.nnz(), 1);
  EXPECT_EQ(split.test.nnz(), 1);
  EXPECT_EQ(split.cold_users, 0);
  EXPECT_EQ(split.cold_items, 1);
  EXPECT_EQ(split.cold_ratings, 1);
}

// More ratings than one chunk of work, so that several threads do take part.
TEST(Holdout, SameForAnyNumberOfThreads) {
  const Dataset data = make_data(3000, 900);
  ASSERT_GT(data.ratings.nnz(), 500'000);
  for (const SplitSpec& spec : {holdout(0.2, 0.1), leave_out(3, 0.1), users(0.2, 0.7, 0.1)}) {
    const Split one = make_split(data, spec, 1);
    for (const int threads : {2, 3}) expect_same(one, make_split(data, spec, threads));
  }
}

TEST(Holdout, SeedsDrawIndependently) {
  const Dataset data = make_data(400, 200);
  const auto a = triples(make_split(data, holdout(0.2, 0, 1), 1).test);
  const auto b = triples(make_split(data, holdout(0.2, 0, 2), 1).test);
  std::vector<Triple> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const double n = static_cast<double>(data.ratings.nnz());
  // Independent draws share p^2 n ratings, within five standard deviations.
  EXPECT_NEAR(static_cast<double>(both.size()), 0.04 * n, 5 * std::sqrt(0.04 * 0.96 * n));
}

// Over seeds every rating is drawn equally often: chi-square of the counts against their mean.
TEST(Holdout, DrawsUniformly) {
  const Dataset data = make_data(30, 40);
  const auto nnz = data.ratings.nnz();
  constexpr int kSeeds = 800;
  constexpr double kFraction = 0.25;
  std::vector<int> drawn(nnz, 0);
  const auto all = triples(data.ratings);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto test = make_split(data, holdout(kFraction, 0, static_cast<std::uint64_t>(seed)), 1);
    for (const Triple& t : triples(test.test))
      ++drawn[std::ranges::lower_bound(all, t) - all.begin()];
  }
  double chi2 = 0;
  for (const int count : drawn)
    chi2 += std::pow(count - kSeeds * kFraction, 2) / (kSeeds * kFraction * (1 - kFraction));
  const double n = static_cast<double>(nnz);
  EXPECT_NEAR(chi2, n, 5 * std::sqrt(2 * n));
}

// Published results rest on these splits: they may never change.
TEST(Holdout, IsTheSplitOfEarlierVersions) {
  const Dataset data = make_data(300, 200);
  const auto hash = [&](const SplitSpec& spec) {
    const Split split = make_split(data, spec, 2);
    std::uint64_t all = 0;
    for (const Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in})
      all = mix64(all ^ content_hash(*part, 1));
    return all;
  };
  EXPECT_EQ(hash(holdout(0.2)), 0xb8eb33e94afeb876U);
  EXPECT_EQ(hash(holdout(0.1, 0.1, 7)), 0x5719882bc3ccc5a2U);
  EXPECT_EQ(hash(leave_out(2, 0.1)), 0xbeb6eded8f9505feU);
  EXPECT_EQ(hash(users(0.2, 0.7, 0.1)), 0xd829b4364f341982U);
}

// Their pages go back to the system; the parts do not notice.
TEST(Holdout, ConsumingTheRatingsGivesTheSameParts) {
  const Dataset data = make_data(3000, 900);
  ASSERT_GT(data.ratings.nnz(), 500'000);
  for (const SplitSpec& spec : {holdout(0.2, 0.1), users(0.2, 0.7, 0.1)}) {
    const Split kept = make_split(data, spec, 2);
    Dataset consumed = make_data(3000, 900);
    const auto ids = consumed.ratings.items();
    const Split split = make_split_consuming(consumed, spec, 3);
    expect_same(kept, split);
    expect_partition(data, split);
    const auto zeros = std::count(ids.begin(), ids.end(), 0);
    EXPECT_GT(2 * zeros, ids.size()) << "no memory was given back";
  }
}

// Also when many threads ask for them at once.
TEST(Holdout, UsersOfTheTrainingPartAreMadeWhenTheyAreAskedFor) {
  const Dataset data = make_data(3000, 300);
  for (const SplitSpec& spec : {holdout(0.2, 0.1), users(0.2, 0.7, 0.1), leave_out(2)}) {
    const Split made = make_split(data, spec, 2);
    EXPECT_TRUE(made.train.has_users());
    const Split kept = make_split(data, spec, 2, UsersColumn::on_demand);
    const Split split = make_split_consuming(make_data(3000, 300), spec, 3, UsersColumn::on_demand);
    EXPECT_FALSE(kept.train.has_users());
    EXPECT_FALSE(kept.test.has_users());
    const Ratings copy = split.train;
    const std::int64_t column = 4 * copy.nnz();
    EXPECT_EQ(copy.bytes(), made.train.bytes() - column);
    std::array<const std::int32_t*, 4> seen{};
    ThreadTeam team(4);
    team.run([&](int t) { seen[static_cast<std::size_t>(t)] = split.train.users().data(); });
    for (const auto* column_of_thread : seen) EXPECT_EQ(column_of_thread, copy.users().data());
    EXPECT_TRUE(copy.has_users());
    EXPECT_EQ(copy.bytes(), made.train.bytes());
    expect_same(made, kept);
    expect_same(made, split);
  }
}

// By vectors, too, if this CPU has them.
TEST(SelectParts, KeepsWhatHasTheLabel) {
  Rng rng(5);
  for (const Isa isa : {Isa::scalar, Isa::avx512}) {
    if (!has(isa)) continue;
    for (std::int64_t count = 0; count < 100; ++count) {
      std::vector<std::uint8_t> labels;
      std::vector<std::int32_t> items, kept_items;
      std::vector<float> values, kept_values;
      for (std::int64_t i = 0; i < count; ++i) {
        labels.push_back(static_cast<std::uint8_t>(rng.below(2 + count % 3)));
        items.push_back(static_cast<std::int32_t>(rng.below(1000)));
        values.push_back(static_cast<float>(rng.uniform()));
        if (labels.back() != 1) continue;
        kept_items.push_back(items.back());
        kept_values.push_back(values.back());
      }
      constexpr float kAfter = -1;
      const auto size = kept_items.size();
      std::vector<std::int32_t> to_items(size + kKeptBehind + 1, -1);
      std::vector<float> to_values(size + kKeptBehind + 1, kAfter);
      ASSERT_EQ(keep_labelled(isa, labels.data(), items.data(), values.data(), count, 1,
                              to_items.data(), to_values.data()),
                std::ssize(kept_items));
      EXPECT_EQ(to_items.back(), -1);
      EXPECT_EQ(to_values.back(), kAfter);
      to_items.resize(size);
      to_values.resize(size);
      EXPECT_EQ(to_items, kept_items) << to_string(isa) << " " << count;
      EXPECT_EQ(to_values, kept_values) << to_string(isa) << " " << count;
    }
  }
}

TEST(SelectParts, FlagsTheItemsOfAPart) {
  const Dataset data = make_data(50, 400, 3);
  Labels labels(data.ratings.nnz());
  for (std::int64_t i = 0; i < std::ssize(labels); ++i)
    labels[i] = static_cast<std::uint8_t>(mix64(static_cast<std::uint64_t>(i)) % 40);
  const std::array<WantedPart, 3> wanted = {
      {{7}, {99, UsersColumn::on_demand}, {0, UsersColumn::on_demand}}};
  ThreadTeam team(2);
  const auto parts = select_parts(data.ratings, {0, data.ratings.n_users()},
                                  share_ids(data.ratings), stored_labels(labels), wanted, team);
  const auto all = triples(data.ratings);
  ASSERT_EQ(parts.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<Triple> expected;
    std::set<std::int32_t> rated;
    for (std::int64_t i = 0; i < data.ratings.nnz(); ++i) {
      if (labels[i] != wanted[k].label) continue;
      expected.push_back(all[static_cast<std::size_t>(i)]);
      rated.insert(data.ratings.items()[i]);
    }
    EXPECT_EQ(parts[k].ratings.has_users(), k != 2);  // part 1 has no ratings
    EXPECT_EQ(triples(parts[k].ratings), expected);
    EXPECT_EQ(parts[k].ratings.user_offsets().back(), std::ssize(expected));
    for (std::int32_t i = 0; i < data.ratings.n_items(); ++i)
      EXPECT_EQ(parts[k].item_rated[i] != 0, rated.contains(i));
  }
}

TEST(LeaveOut, TakesKFromEachUserWithMore) {
  const Dataset data = make_data(150, 60);
  for (const int k : {1, 5, 20}) {
    const Split split = make_split(data, leave_out(k), 2);
    expect_partition(data, split);
    for (std::int32_t u = 0; u < data.ratings.n_users(); ++u) {
      const auto all = count_of(data.ratings.users(), u);
      EXPECT_EQ(count_of(split.test.users(), u), all > k ? k : 0);
      EXPECT_GE(count_of(split.train.users(), u), std::min<std::int64_t>(all, 1));
    }
    EXPECT_EQ(split.cold_users, 0);
  }
}

TEST(LeaveOut, ValidationComesOutOfTrain) {
  const Dataset data = make_data(150, 60);
  const Split split = make_split(data, leave_out(2, 0.25), 2);
  expect_partition(data, split);
  const auto left = data.ratings.nnz() - split.test.nnz();
  EXPECT_EQ(split.validation.nnz(), std::llround(0.25 * static_cast<double>(left)));
}

// Every rule of the split at once, over shares that round in every way.
TEST(HeldOutUsers, AreHeldOutWholeAndCutInTwo) {
  const Dataset data = make_data(300, 40);
  const Ratings& all = data.ratings;
  std::int64_t eligible = 0, too_short = 0;
  for (std::int32_t u = 0; u < all.n_users(); ++u) {
    eligible += row_size(all, u) >= 2 ? 1 : 0;
    too_short += row_size(all, u) == 1 ? 1 : 0;
  }
  ASSERT_GT(too_short, 0);
  for (const double share : {0.05, 0.31, 0.6}) {
    for (const double fold_in : {0.01, 0.5, 0.8, 0.99}) {
      for (const double validation : {0.0, 0.2}) {
        const Split split = make_split(data, users(share, fold_in, validation), 2);
        expect_partition(data, split);
        const auto test = users_of(split.test), val = users_of(split.validation);
        const auto n_test = std::llround(share * static_cast<double>(eligible));
        EXPECT_EQ(std::ssize(test), n_test);
        EXPECT_EQ(std::ssize(val),
                  std::llround(validation * static_cast<double>(eligible - n_test)));
        for (std::int32_t u = 0; u < all.n_users(); ++u) {
          const auto n = row_size(all, u);
          const bool held_out = test.contains(u) || val.contains(u);
          EXPECT_FALSE(test.contains(u) && val.contains(u));
          EXPECT_EQ(row_size(split.train, u), held_out ? 0 : n);
          const auto history = std::clamp<std::int64_t>(
              std::llround(fold_in * static_cast<double>(n)), 1, std::max<std::int64_t>(n - 1, 1));
          EXPECT_EQ(row_size(split.fold_in, u), held_out ? history : 0);
          EXPECT_EQ(row_size(test.contains(u) ? split.test : split.validation, u),
                    held_out ? n - history : 0);
        }
        EXPECT_EQ(split.cold_users, n_test);
        EXPECT_EQ(split.cold_ratings, split.test.nnz());
      }
    }
  }
}

TEST(Validation, DoesNotMoveTheTestPart) {
  const Dataset data = make_data(200, 60);
  for (const auto& [plain, more] :
       {std::pair{holdout(0.2), holdout(0.2, 0.3)}, {users(0.2, 0.8), users(0.2, 0.8, 0.3)}}) {
    const Split without = make_split(data, plain, 1);
    const Split with = make_split(data, more, 1);
    EXPECT_EQ(triples(without.test), triples(with.test));
    EXPECT_EQ(without.validation.nnz(), 0);
    EXPECT_GT(with.validation.nnz(), 0);
  }
}

// Over seeds every user is held out equally often, and so is every rating of a held-out user.
TEST(HeldOutUsers, AreDrawnUniformly) {
  const Dataset data = make_data(40, 12, 5);
  const Ratings& all = data.ratings;
  constexpr int kSeeds = 3000;
  std::vector<double> drawn(all.n_users(), 0), in_test(all.nnz(), 0);
  const auto pairs = triples(all);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Split split = make_split(data, users(0.25, 0.5, 0, static_cast<std::uint64_t>(seed)), 1);
    for (const std::int32_t u : users_of(split.test)) ++drawn[u];
    for (const Triple& t : triples(split.test))
      ++in_test[std::ranges::lower_bound(pairs, t) - pairs.begin()];
  }
  double eligible = 0;
  for (std::int32_t u = 0; u < all.n_users(); ++u) eligible += row_size(all, u) >= 2 ? 1 : 0;
  const double p = std::round(0.25 * eligible) / eligible;
  for (std::int32_t u = 0; u < all.n_users(); ++u) {
    const auto n = row_size(all, u);
    if (n < 2) {
      EXPECT_EQ(drawn[u], 0);
      continue;
    }
    EXPECT_NEAR(drawn[u], kSeeds * p, 5 * std::sqrt(kSeeds * p * (1 - p)));
    const double q = p * static_cast<double>(n - std::llround(0.5 * static_cast<double>(n))) /
                     static_cast<double>(n);
    for (std::int64_t i = all.user_offsets()[u]; i < all.user_offsets()[u + 1]; ++i)
      EXPECT_NEAR(in_test[i], kSeeds * q, 5 * std::sqrt(kSeeds * q * (1 - q)));
  }
}

TEST(HeldOutUsers, NoOtherSplitHasHistories) {
  const Dataset data = make_data(100, 30);
  for (const SplitSpec& spec : {holdout(0.2, 0.1), leave_out(2)}) {
    const Split split = make_split(data, spec, 1);
    EXPECT_EQ(split.fold_in.nnz(), 0);
    EXPECT_EQ(split.fold_in.n_users(), data.ratings.n_users());
  }
}

TEST(Cold, CountsAgreeWithTheDefinition) {
  // Sparse rows, and a large test part: some users and items keep nothing in train.
  const Dataset data = make_data(300, 25, 3);
  std::int64_t seen_users = 0, seen_items = 0;
  for (const SplitSpec& spec : {holdout(0.2), holdout(0.9), holdout(0.99), leave_out(4)}) {
    const Split split = make_split(data, spec, 3);
    const Cold expected = brute_force_cold(split);
    EXPECT_EQ(split.cold_users, expected.users);
    EXPECT_EQ(split.cold_items, expected.items);
    EXPECT_EQ(split.cold_ratings, expected.ratings);
    seen_users += expected.users;
    seen_items += expected.items;
  }
  EXPECT_GT(seen_users, 0);  // the case occurred
  EXPECT_GT(seen_items, 0);
}

TEST(Given, FollowsTheLabels) {
  Dataset data = make_data(60, 40);
  data.parts = test::labels_by(data.ratings.nnz(),
                               [](std::int64_t i) { return i % 7 == 0 ? kTest : kTrain; });
  SplitSpec spec;
  spec.kind = SplitSpec::Kind::given;
  const Split split = make_split(data, spec, 2);
  expect_partition(data, split);
  std::vector<Triple> expected;
  for (std::int64_t i = 0; i < data.ratings.nnz(); i += 7)
    expected.push_back(triples(data.ratings)[i]);
  EXPECT_EQ(triples(split.test), expected);

  spec.validation_fraction = 0.1;
  const Split with = make_split(data, spec, 2);
  expect_partition(data, with);
  EXPECT_EQ(triples(with.test), expected);
  EXPECT_EQ(with.validation.nnz(), std::llround(0.1 * static_cast<double>(split.train.nnz())));
}

TEST(Given, KeepsAGivenValidationPart) {
  Dataset data = make_data(60, 40);
  data.parts = test::labels_by(data.ratings.nnz(), [](std::int64_t i) { return i % 3; });
  SplitSpec spec;
  spec.kind = SplitSpec::Kind::given;
  const Split split = make_split(data, spec, 1);
  expect_partition(data, split);
  EXPECT_EQ(split.validation.nnz(), data.ratings.nnz() / 3);
  spec.validation_fraction = 0.1;
  EXPECT_EQ(kind_of_error(data, spec, "validation part already"), ErrorKind::usage);
}

TEST(Errors, SayWhatIsWrong) {
  Dataset data = make_data(20, 20);
  SplitSpec given;
  given.kind = SplitSpec::Kind::given;
  EXPECT_EQ(kind_of_error(data, given, "has no given split"), ErrorKind::usage);
  for (const auto& [spec, part] : std::initializer_list<std::pair<SplitSpec, const char*>>{
           {holdout(1.0), "the test fraction is 1"},
           {holdout(std::nan("")), "nan"},
           {holdout(0.2, -1), "the validation fraction is -1"},
           {leave_out(0), "leave_out is 0"},
           {fold_of(5, 6), "fold 6 of 5"},
           {fold_of(1, 1), "fold 1 of 1"},
           {users(0, 0.8), "the shares of users and of fold_in are 0 and 0.8"},
           {users(0.1, 1), "the share to fold in is 1"},
           {users(0.01, 0.8), "leaves the test part without users"},
           {users(0.5, 0.8, 0.01), "leaves the validation part without users"}}) {
    EXPECT_EQ(kind_of_error(data, spec, part), ErrorKind::usage);
  }
  Dataset one_user;
  one_user.ratings = test::ratings_of(1, 2, {{0, 0, 3}, {0, 1, 4}});
  EXPECT_EQ(kind_of_error(one_user, users(0.9, 0.5), "no rating to train on"), ErrorKind::data);
  EXPECT_EQ(kind_of_error(data, holdout(0.9999), "no rating to train on"), ErrorKind::data);
  EXPECT_EQ(kind_of_error(Dataset{}, holdout(0.2), "no ratings"), ErrorKind::data);
  const auto all_train = [](std::int64_t) { return kTrain; };
  data.parts = test::labels_by(3, all_train);
  EXPECT_EQ(kind_of_error(data, given, "3 labels"), ErrorKind::data);
  auto labels = test::labels_by(data.ratings.nnz(), all_train);
  labels.back() = 9;
  data.parts = std::move(labels);
  EXPECT_EQ(kind_of_error(data, given, "unknown label 9"), ErrorKind::data);
}

TEST(SplitSpec, ToJsonNamesWhatTheDrawDependsOn) {
  EXPECT_EQ(holdout(0.25, 0.5, 9).to_json().dump(),
            R"({"holdout":0.25,"validation":0.5,"seed":9})");
  EXPECT_EQ(leave_out(3).to_json().dump(), R"({"leave_out":3,"validation":0.0,"seed":1})");
  EXPECT_EQ(users(0.1, 0.75, 0.05, 2).to_json().dump(),
            R"({"users":0.1,"fold_in":0.75,"validation":0.05,"seed":2})");
  EXPECT_EQ(fold_of(5, 2).to_json().dump(), R"({"folds":5,"fold":2,"validation":0.0,"seed":1})");
  EXPECT_EQ(cut_at(0.8).to_json().dump(), R"({"by_time":0.8,"validation":0.0})");
  EXPECT_EQ(leave_last(1, 1).to_json().dump(), R"({"leave_last":1,"validation":1})");
  SplitSpec given;
  given.kind = SplitSpec::Kind::given;
  EXPECT_EQ(given.to_json().dump(), R"({"given":true,"validation":0.0,"seed":1})");
}

// A host that holds 3.1 G ratings does not hold them twice: once they are cut, the whole may go.
TEST(Split, KeepsNothingOfTheWholeAlive) {
  auto owner = std::make_shared<const Dataset>(make_data(60, 30));
  const std::weak_ptr<const Dataset> whole = owner;
  const Ratings& r = owner->ratings;
  Dataset lent;
  lent.info = owner->info;
  lent.ratings = Ratings(Ratings::Views{r.users(), r.items(), r.values(), r.user_offsets(),
                                        r.user_ids(), r.item_ids()},
                         owner);
  owner.reset();
  SplitSpec users;
  users.kind = SplitSpec::Kind::users;
  for (const SplitSpec& spec : {SplitSpec{}, users}) {
    const Split split = make_split(lent, spec, 2);
    const std::vector<std::int32_t> ids(lent.ratings.user_ids().begin(),
                                        lent.ratings.user_ids().end());
    EXPECT_EQ(whole.use_count(), 1) << "the parts hold none of its arrays";
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), split.train.user_ids().begin()));
    EXPECT_EQ(split.train.item_ids().data(), split.test.item_ids().data()) << "one copy for all";
  }
  lent = {};
  EXPECT_TRUE(whole.expired());
}

}  // namespace
}  // namespace mf
