#include "datasets/synthetic/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "base/threads.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/synthetic/synthetic_degrees.hpp"
#include "datasets/synthetic/synthetic_items.hpp"
#include "datasets/synthetic/synthetic_model.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

using Counts = std::vector<std::int64_t>;

Counts counts_of(View<const std::int32_t> ids, std::int32_t n) {
  Counts counts(n, 0);
  for (const std::int32_t id : ids) ++counts[id];
  return counts;
}
Counts user_counts(const Ratings& r) { return counts_of(r.users(), r.n_users()); }
Counts item_counts(const Ratings& r) { return counts_of(r.items(), r.n_items()); }

double gini(Counts counts) {
  std::sort(counts.begin(), counts.end());
  double weighted = 0, total = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto c = static_cast<double>(counts[k]);
    weighted += (2.0 * static_cast<double>(k + 1) - static_cast<double>(counts.size()) - 1) * c;
    total += c;
  }
  return weighted / (static_cast<double>(counts.size()) * total);
}

double median(Counts counts) {
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2),
                   counts.end());
  return static_cast<double>(counts[counts.size() / 2]);
}

double maximum(const Counts& counts) {
  return static_cast<double>(*std::max_element(counts.begin(), counts.end()));
}

bool on_scale(float value, const RatingScale& scale) {
  if (!(value >= scale.min && value <= scale.max)) return false;
  if (scale.step == 0) return true;
  const float steps = (value - scale.min) / scale.step;
  return steps == std::round(steps);
}

// One pass over everything a Ratings promises, without a matcher a rating.
void expect_sound(const Dataset& data, const Shape& shape) {
  const Ratings& r = data.ratings;
  EXPECT_EQ(r.n_users(), shape.n_users);
  EXPECT_EQ(r.n_items(), shape.n_items);
  ASSERT_EQ(r.nnz(), shape.nnz);
  EXPECT_TRUE(data.parts.empty());
  // Implicit feedback is declared on no scale: ones or counts.
  const bool implicit = !data.info.scale.has_value();
  const RatingScale scale = data.info.scale.value_or(RatingScale{1, 1e6F, 1});
  const std::string like = data.info.name.substr(0, data.info.name.find(" look-alike"));
  EXPECT_EQ(implicit, synthetic::find_profile(like).values != synthetic::Values::ratings);
  std::int64_t unsorted = 0, misplaced = 0, off_scale = 0;
  for (std::int64_t i = 0; i < r.nnz(); ++i) {
    const Rating now = r[i];
    if (i > 0) {
      const Rating last = r[i - 1];
      unsorted += last.user > now.user || (last.user == now.user && last.item >= now.item) ? 1 : 0;
    }
    const auto u = static_cast<std::size_t>(now.user);
    misplaced += i < r.user_offsets()[u] || i >= r.user_offsets()[u + 1] ? 1 : 0;
    off_scale += on_scale(now.value, scale) ? 0 : 1;
  }
  EXPECT_EQ(unsorted, 0);  // strictly ascending pairs: none occurs twice
  EXPECT_EQ(misplaced, 0);
  EXPECT_EQ(off_scale, 0);
  const Counts users = user_counts(r), items = item_counts(r);
  EXPECT_GE(*std::min_element(users.begin(), users.end()), 1);
  EXPECT_GE(*std::min_element(items.begin(), items.end()), 1);
  for (std::int32_t u = 0; u < r.n_users(); ++u) ASSERT_EQ(r.user_ids()[u], u + 1);
  for (std::int32_t i = 0; i < r.n_items(); ++i) ASSERT_EQ(r.item_ids()[i], i + 1);
}

bool same_content(const Ratings& a, const Ratings& b) {
  return std::ranges::equal(a.users(), b.users()) && std::ranges::equal(a.items(), b.items()) &&
         std::ranges::equal(a.values(), b.values()) &&
         std::ranges::equal(a.user_offsets(), b.user_offsets());
}

std::string error_of(const std::string& like, double factor) {
  const Error error = test::error_of([&] { look_alike_shape(like, factor); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  return error.what();
}

// The catalog's is the first of the parts of Yahoo! Music.
TEST(LookAlikeShape, IsThatOfTheCatalog) {
  int both = 0;
  for (const std::string& name : look_alike_names()) {
    const CatalogEntry* entry = catalog_entry_or_null(name);
    if (entry == nullptr) continue;
    ++both;
    const Shape shape = look_alike_shape(name, 1);
    EXPECT_EQ(shape.n_users, entry->n_users) << name;
    EXPECT_EQ(shape.n_items, entry->n_items) << name;
    EXPECT_EQ(shape.nnz, entry->nnz + (name == "yahoomusic" ? 4003960 + 6005940 : 0)) << name;
  }
  EXPECT_EQ(both, 11);
}

TEST(LookAlikeShape, ScalesUsersAndKeepsRatingsPerUser) {
  for (const std::string& name : look_alike_names()) {
    const Shape full = look_alike_shape(name, 1);
    const double per_user = static_cast<double>(full.nnz) / static_cast<double>(full.n_users);
    for (const double factor : {0.05, 0.1, 0.5, 2.0}) {
      const Shape s = look_alike_shape(name, factor);
      EXPECT_EQ(s.nnz, std::llround(factor * static_cast<double>(full.nnz))) << name;
      EXPECT_NEAR(static_cast<double>(s.nnz) / static_cast<double>(s.n_users), per_user,
                  0.02 * per_user)
          << name << " x" << factor;
      const double density =
          static_cast<double>(s.nnz) / static_cast<double>(s.n_users * s.n_items);
      EXPECT_LE(density, 0.101) << name << " x" << factor;
    }
  }
}

// Down to one rating: the matrix stays one that can hold them.
TEST(LookAlikeShape, IsFeasibleAtAnyFactor) {
  for (const std::string& name : look_alike_names()) {
    for (double factor = 100; factor > 1e-10; factor *= 0.83) {
      if (name == "hugewiki" && factor > 40) continue;  // more users than can be indexed
      const Shape s = look_alike_shape(name, factor);
      ASSERT_GE(s.n_users * s.n_items, s.nnz) << name << " x" << factor;
      ASSERT_LE(std::max(s.n_users, s.n_items), s.nnz) << name << " x" << factor;
      ASSERT_GE(std::min(s.n_users, s.n_items), 1) << name << " x" << factor;
    }
  }
}

TEST(LookAlikeShape, ErrorsNameWhatIsNear) {
  EXPECT_HAS(error_of("netflx", 1), "did you mean \"netflix\"");
  EXPECT_HAS(error_of("zzz", 1), "known: ml-100k");
  for (const double factor : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_HAS(error_of("ml-1m", factor), "expected a number in (0, 100]");
  EXPECT_HAS(error_of("hugewiki", 50), "can be indexed");
}

TEST(ParseProfiles, NamesWhatIsWrong) {
  const auto error = [](const std::string& more) {
    const std::string text = R"({"profiles": [{"name": "x", "min_user_degree": 1,
        "shape": {"n_users": 2, "n_items": 2, "nnz": 3},
        "activity": {"power": 1, "tail": 0}, "popularity": {"power": 1, "tail": 0})" +
                             more + "}]}";
    return std::string(
        test::error_of([&] { synthetic::parse_profiles(text, "test.json"); }).what());
  };
  EXPECT_HAS(error(R"(, "scale": {"min": 1, "max": 5}, "modle": {})"),
             "test.json:$.profiles[0].modle: unknown key, did you mean \"model\"?");
  EXPECT_HAS(error(""), "test.json:$.profiles[0]: the key \"scale\" is missing");
  EXPECT_HAS(error(R"(, "values": "ones", "scale": {"min": 1, "max": 5})"),
             "$.profiles[0].scale: found it with values \"ones\"");
  EXPECT_HAS(error(R"(, "scale": {"min": 5, "max": 1})"),
             "$.profiles[0].scale: min 5 is not below");
  EXPECT_HAS(error(R"(, "values": "ones", "tastes": {"global": 0.5, "niches": [1, 2]})"),
             "$.profiles[0].tastes.niches: found the list [1,2], expected a list of 3 integers");
}

TEST(LookAlike, IsSoundAtEverySize) {
  const auto expect = [](const std::string& name, double factor, std::uint64_t seed) {
    SCOPED_TRACE(name + " x" + std::to_string(factor));
    expect_sound(make_look_alike(name, factor, seed, 2), look_alike_shape(name, factor));
  };
  for (const std::string name : {"ml-100k", "ml-1m", "bdmovie"}) expect(name, 1, 1);
  for (const std::string& name : look_alike_names()) {
    const double nnz = static_cast<double>(look_alike_shape(name, 1).nnz);
    for (const double factor : {0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9}) {
      if (factor * nnz <= 300'000) expect(name, factor, 3);
    }
  }
  expect("ml-100k", 3, 1);
  EXPECT_EQ(look_alike_shape("ml-100k", 3).nnz, 300'000);
}

TEST(LookAlike, SameForAnyNumberOfThreads) {
  for (const auto& [name, factor] :
       {std::pair{"ml-1m", 0.2}, {"hugewiki", 1e-4}, {"lastfm-360k", 0.01}}) {
    const Dataset one = make_look_alike(name, factor, 5, 1);
    for (const int threads : {2, 3}) {
      const Dataset many = make_look_alike(name, factor, 5, threads);
      EXPECT_TRUE(same_content(one.ratings, many.ratings)) << name << " threads " << threads;
      EXPECT_EQ(one.info.content_hash, many.info.content_hash);
    }
  }
}

TEST(LookAlike, SeedsAndNamesDrawDifferentSets) {
  const Dataset a = make_look_alike("ml-100k", 1, 1, 1);
  const Dataset again = make_look_alike("ml-100k", 1, 1, 1);
  const Dataset b = make_look_alike("ml-100k", 1, 2, 1);
  EXPECT_TRUE(same_content(a.ratings, again.ratings));
  EXPECT_FALSE(same_content(a.ratings, b.ratings));
  EXPECT_NE(a.info.content_hash, b.info.content_hash);
  EXPECT_NE(user_counts(a.ratings), user_counts(b.ratings));
}

// Results are compared across machines and versions by content hash. If this fails on purpose,
// raise kLookAlikeVersion in load.cpp, so that caches of the former set are not read.
TEST(LookAlike, ContentIsPinned) {
  const Dataset stepped = make_look_alike("ml-100k", 1, 1, 2);
  EXPECT_EQ(stepped.info.content_hash, 2358902714080469373ULL);
  const Dataset real_valued = make_look_alike("hugewiki", 1e-5, 1, 2);
  EXPECT_EQ(real_valued.info.content_hash, 1838151911316810805ULL);
  EXPECT_EQ(make_look_alike("ml-20m-implicit", 0.01, 1, 2).info.content_hash,
            3964389854285333881ULL);
  EXPECT_EQ(make_look_alike("lastfm-360k", 0.01, 1, 2).info.content_hash, 16411066182591509245ULL);
}

TEST(LookAlike, SaysWhatItIs) {
  const Dataset full = make_look_alike("ml-100k", 1, 1, 1);
  EXPECT_EQ(full.info.name, "ml-100k look-alike");
  EXPECT_TRUE(full.info.look_alike);
  EXPECT_EQ(full.info.source, "synthetic");
  EXPECT_EQ(full.info.duplicate_pairs, 0);
  EXPECT_EQ(full.info.content_hash, content_hash(full.ratings, 1));
  EXPECT_FLOAT_EQ(full.info.scale->step, 1);
  EXPECT_EQ(make_look_alike("ml-100k", 0.1, 1, 1).info.name, "ml-100k look-alike x0.1");
}

// Published facts of the real sets: medians, maxima and Gini indices of both sides. The bands hold
// the calibration in place; a uniform graph is far outside (Gini 0, maximum near the mean).
TEST(LookAlike, IsLongTailedAsTheRealSets) {
  using Band = std::pair<double, double>;  // around a value
  const auto expect = [](const Counts& counts, Band of_gini, Band of_median, Band most) {
    EXPECT_NEAR(gini(counts), of_gini.first, of_gini.second);
    EXPECT_NEAR(median(counts), of_median.first, of_median.second);
    EXPECT_NEAR(maximum(counts), most.first, most.second);
  };
  const Ratings small = make_look_alike("ml-100k", 1, 1, 2).ratings;
  expect(user_counts(small), {0.472, 0.04}, {65, 8}, {737, 200});
  expect(item_counts(small), {0.629, 0.04}, {27, 5}, {583, 100});
  const Counts users = user_counts(small);
  EXPECT_EQ(*std::min_element(users.begin(), users.end()), 20);
  const Ratings medium = make_look_alike("ml-1m", 1, 1, 2).ratings;
  expect(user_counts(medium), {0.529, 0.04}, {96, 10}, {2314, 600});
  expect(item_counts(medium), {0.634, 0.04}, {124, 25}, {3428, 600});
}

TEST(LookAlike, HasTheMeanAndSpreadOfTheRealSet) {
  const Ratings r = make_look_alike("ml-1m", 1, 1, 2).ratings;
  const double mean = mean_rating(r);
  double squares = 0;
  for (const float v : r.values()) squares += std::pow(static_cast<double>(v) - mean, 2);
  EXPECT_NEAR(mean, 3.5816, 0.05);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(r.nnz())), 1.1171, 0.05);
}

TEST(Degrees, SumExactlyAndKeepTheBounds) {
  ThreadTeam team(3);
  const synthetic::UserStreams streams(9);
  synthetic::Profile profile = synthetic::find_profile("ml-100k");
  const std::vector<Shape> shapes{{943, 1682, 100'000}, {10, 30, 300}, {10, 30, 299},
                                  {10, 30, 10},         {1, 7, 7},     {500, 21, 10'111}};
  for (const Shape& shape : shapes) {
    const auto offsets = synthetic::draw_user_offsets(profile, shape, streams, team);
    ASSERT_EQ(offsets.size(), static_cast<std::size_t>(shape.n_users + 1));
    EXPECT_EQ(offsets.front(), 0);
    EXPECT_EQ(offsets.back(), shape.nnz);
    const std::int64_t least = std::min<std::int64_t>(20, shape.nnz / shape.n_users);
    for (std::size_t u = 0; u + 1 < offsets.size(); ++u) {
      EXPECT_GE(offsets[u + 1] - offsets[u], least);
      EXPECT_LE(offsets[u + 1] - offsets[u], shape.n_items);
    }
  }
}

TEST(Degrees, WeightsFollowTheLaw) {
  // Half-normal median 0.67449: power and tail applied to it.
  EXPECT_NEAR(synthetic::weight_at({2, 0}, 0.5), 0.454936, 1e-5);
  EXPECT_NEAR(synthetic::weight_at({3, 0.1}, 0.5), std::pow(0.6744898, 3) * std::exp(0.0454936),
              1e-6);
  EXPECT_GT(synthetic::weight_at({2, 0}, 0), 0);  // the ends stay finite and positive
  EXPECT_LT(synthetic::weight_at({5, 0.2}, 1), 1e12);
}

TEST(AliasTable, DrawsInProportion) {
  const std::vector<double> weights{0.5, 3, 0, 1, 0.001, 7, 2.5};
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const synthetic::AliasTable table(weights);
  Rng rng(4);
  constexpr int kDraws = 400'000;
  Counts drawn(weights.size(), 0);
  for (int k = 0; k < kDraws; ++k) ++drawn[table.draw(rng)];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = weights[i] / total;
    EXPECT_NEAR(static_cast<double>(drawn[i]), kDraws * p, 5 * std::sqrt(kDraws * p) + 1e-9);
  }
}

// P(item among k successive draws without replacement), by enumeration of all orders.
double inclusion(std::span<const double> weights, unsigned taken, std::size_t item, int k) {
  if (k == 0) return 0;
  double left = 0, p = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) left += (taken >> i & 1) != 0 ? 0 : weights[i];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if ((taken >> i & 1) != 0) continue;
    p += weights[i] / left * (i == item ? 1 : inclusion(weights, taken | 1U << i, item, k - 1));
  }
  return p;
}

// Six items and long draws: the budget of rejections ends now and then, so both ways are taken.
void expect_successive_draws(const synthetic::ItemCatalog& catalog,
                             const synthetic::ItemSampler::Chance& chance) {
  synthetic::ItemSampler sampler(catalog);
  constexpr int kRounds = 60'000;
  std::vector<double> weights(catalog.weights().begin(), catalog.weights().end());
  for (std::size_t i = 0; chance && i < weights.size(); ++i)
    weights[i] *= chance(static_cast<std::int32_t>(i));
  for (const std::size_t k : {std::size_t{1}, std::size_t{3}, std::size_t{5}, std::size_t{6}}) {
    Rng rng(k);
    Counts drawn(6, 0);
    std::vector<std::int32_t> out(k);
    for (int round = 0; round < kRounds; ++round) {
      sampler.draw({}, chance, rng, out);
      ASSERT_TRUE(std::ranges::is_sorted(out, std::less_equal<>()) || k == 1);
      for (const std::int32_t item : out) ++drawn[item];
    }
    for (std::size_t item = 0; item < 6; ++item) {
      const double p = inclusion(weights, 0, item, static_cast<int>(k));
      EXPECT_NEAR(static_cast<double>(drawn[item]), kRounds * p,
                  5 * std::sqrt(kRounds * p * (1 - p) + 1) + 1e-9)
          << "item " << item << " of " << k << " drawn";
    }
  }
}

TEST(ItemSampler, FollowsTheLawOfSuccessiveDraws) {
  const synthetic::ItemCatalog catalog(synthetic::find_profile("ml-20m"), {100, 6, 400}, 5);
  expect_successive_draws(catalog, nullptr);
  expect_successive_draws(catalog, [](std::int32_t item) { return 0.9 / (1 + item); });
}

// One item each of many users: whatever their tastes, an item is drawn by its popularity.
TEST(Tastes, LeaveThePopularityOfItems) {
  synthetic::Profile profile = synthetic::find_profile("ml-20m-implicit");
  const synthetic::ItemCatalog catalog(profile, {1000, 200, 4000}, 5);
  const double total = std::accumulate(catalog.weights().begin(), catalog.weights().end(), 0.0);
  constexpr int kUsers = 400'000;
  Counts drawn(200, 0);
  for (std::uint64_t u = 0; u < kUsers; ++u) {
    Rng rng(3, u);
    const synthetic::Taste taste = catalog.tastes().draw(70, rng);
    ++drawn[catalog.tastes().draw_item(taste, catalog.alias(), rng)];
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double p = catalog.weights()[i] / total;
    EXPECT_NEAR(static_cast<double>(drawn[i]), kUsers * p, 5 * std::sqrt(kUsers * p) + 1);
  }
}

// For one user: all but the global share are items of favourite niches.
TEST(Tastes, AreSeenInWhatAUserHas) {
  synthetic::Profile profile = synthetic::find_profile("lastfm-360k");
  profile.tastes = {.global = 0.25, .niches = {50, 50, 50}, .items_a_favourite = 1000};
  profile.popularity = {.power = 0, .tail = 0};  // equal weights: chance finds few matches
  const synthetic::ItemCatalog catalog(profile, {1000, 5000, 50'000}, 5);
  std::int64_t liked = 0, by_chance = 0;
  constexpr int kUsers = 300, kItems = 100;
  for (std::uint64_t u = 0; u < kUsers; ++u) {
    Rng rng(3, u);
    const synthetic::Taste taste = catalog.tastes().draw(kItems, rng);
    for (int k = 0; k < kItems; ++k) {
      const std::int32_t item = catalog.tastes().draw_item(taste, catalog.alias(), rng);
      liked += catalog.tastes().matches(taste, item) > 0 ? 1 : 0;
      by_chance +=
          catalog.tastes().matches(taste, static_cast<std::int32_t>(rng.below(5000))) > 0 ? 1 : 0;
    }
  }
  // Two favourites of 50 in each of three partitions: 1 - .96^3 = .115 of all items, or a little
  // less if both are one.
  const double n = kUsers * kItems;
  EXPECT_NEAR(static_cast<double>(by_chance) / n, 0.113, 0.01);
  EXPECT_NEAR(static_cast<double>(liked) / n, 0.75 + 0.25 * 0.113, 0.015);
}

TEST(Tastes, AreNoneOfRatings) {
  const synthetic::ItemCatalog catalog(synthetic::find_profile("ml-20m"), {100, 60, 400}, 5);
  EXPECT_FALSE(catalog.tastes().any());
  EXPECT_EQ(synthetic::ItemSampler(catalog).matches(3), 0);
}

// Against a public analysis of the real file: 215 plays a pair in the mean; from memory,
// unverified, quartiles of 35, 94 and 224.
TEST(LookAlike, OfLastFmHasCounts) {
  const Ratings r = make_look_alike("lastfm-360k", 0.02, 1, 2).ratings;
  EXPECT_NEAR(mean_rating(r), 215.2, 25);
  std::vector<float> values(r.values().begin(), r.values().end());
  std::ranges::sort(values);
  EXPECT_NEAR(values[values.size() / 4], 35, 6);
  EXPECT_NEAR(values[values.size() / 2], 94, 12);
  EXPECT_NEAR(values[values.size() * 3 / 4], 224, 30);
  EXPECT_NEAR(median(user_counts(r)), 49, 2);  // the lists were cut at about 50 artists
}

synthetic::PlantedModel nothing_planted() {
  return {.mean = 0,
          .user_sd = 0,
          .user_activity_correlation = 0,
          .item_sd = 0,
          .item_popularity_correlation = 0,
          .signal_sd = 0,
          .noise_sd = 0,
          .gain_sd = 0,
          .noise_spread = 0,
          .selection = 0};
}

TEST(RatingModel, DrawsCountsByTheirLogarithm) {
  synthetic::Profile profile = synthetic::find_profile("lastfm-360k");
  profile.model = nothing_planted();
  profile.model.mean = 2;
  const synthetic::ItemCatalog catalog(profile, {10, 8, 40}, 3);
  const synthetic::RatingModel model(profile, catalog, 3);
  Rng rng(1);
  const synthetic::User user = model.draw_user(0.5, rng);
  const std::vector<std::int32_t> items{0, 1, 2, 3};
  std::vector<float> counts{0, 1, -5, 100};
  model.draw_counts(user, items, rng, counts);
  EXPECT_EQ(counts,
            (std::vector<float>{7, 20, 1, 1e6F}));  // e^2, e^3; at least 1, at most the scale
}

TEST(ItemCatalog, OwesEveryItemOnce) {
  const Shape shape{7, 50, 61};
  const synthetic::ItemCatalog catalog(synthetic::find_profile("ml-100k"), shape, 2);
  const std::vector<std::int64_t> offsets{0, 1, 2, 22, 40, 41, 60, 61};
  Counts owed(50, 0);
  for (std::size_t u = 0; u + 1 < offsets.size(); ++u) {
    const auto items = catalog.owed(offsets[u], offsets[u + 1]);
    EXPECT_LE(items.size(), static_cast<std::size_t>(offsets[u + 1] - offsets[u]));
    for (const std::int32_t item : items) ++owed[item];
  }
  EXPECT_EQ(owed, Counts(50, 1));
}

// The parts of the planted model, told apart by switching the others off.
TEST(RatingModel, PlantsWhatTheProfileSays) {
  synthetic::Profile profile = synthetic::find_profile("hugewiki");
  profile.scale = {-100, 100, 0};
  const Shape shape{4000, 400, 100'000};
  const auto spread = [&](double user, double item, double signal, double noise) {
    profile.model = {.mean = 1.5,
                     .user_sd = user,
                     .user_activity_correlation = -0.3,
                     .item_sd = item,
                     .item_popularity_correlation = 0.5,
                     .signal_sd = signal,
                     .noise_sd = noise};
    const synthetic::ItemCatalog catalog(profile, shape, 3);
    const synthetic::RatingModel model(profile, catalog, 3);
    std::vector<std::int32_t> items(400);
    std::iota(items.begin(), items.end(), 0);
    std::vector<float> values(items.size());
    double sum = 0, squares = 0;
    for (std::uint64_t u = 0; u < 4000; ++u) {
      Rng rng(8, u);
      const synthetic::User drawn = model.draw_user(rng.uniform(), rng);
      model.draw_values(drawn, items, rng, values);
      for (const float v : values) {
        sum += static_cast<double>(v);
        squares += static_cast<double>(v) * static_cast<double>(v);
      }
    }
    const double n = 4000.0 * 400.0;
    return std::sqrt(squares / n - sum * sum / n / n);
  };
  EXPECT_NEAR(spread(0, 0, 0, 0), 0, 1e-6);
  EXPECT_NEAR(spread(2, 0, 0, 0), 2, 0.1);
  EXPECT_NEAR(spread(0, 2, 0, 0), 2, 0.25);
  EXPECT_NEAR(spread(0, 0, 2, 0), 2, 0.25);
  EXPECT_NEAR(spread(0, 0, 0, 2), 2, 0.05);
}

// Items of the same signal are the same to everyone except for a user's gain and noise, whose
// logarithms have the planted deviations, the mean gain and the mean square noise 1.
TEST(RatingModel, UsersHaveGainsAndNoiseOfTheirOwn) {
  const synthetic::Profile& profile = synthetic::find_profile("ml-1m");
  const synthetic::ItemCatalog catalog(profile, {1000, 400, 100'000}, 3);
  const synthetic::RatingModel model(profile, catalog, 3);
  constexpr int kUsers = 20'000;
  double gain = 0, log_gains = 0, square = 0, log_noise = 0, log_squares = 0;
  for (std::uint64_t u = 0; u < kUsers; ++u) {
    Rng rng(8, u);
    const synthetic::User user = model.draw_user(0.5, rng);
    const double noise = static_cast<double>(user.noise_sd) / profile.model.noise_sd;
    gain += static_cast<double>(user.gain) / kUsers;
    log_gains += std::pow(std::log(static_cast<double>(user.gain)), 2) / kUsers;
    square += noise * noise / kUsers;
    log_noise += std::log(noise) / kUsers;
    log_squares += std::pow(std::log(noise), 2) / kUsers;
  }
  EXPECT_NEAR(gain, 1, 0.01);
  const double half = profile.model.gain_sd * profile.model.gain_sd / 2;
  EXPECT_NEAR(log_gains - half * half, 2 * half, 0.005);
  EXPECT_NEAR(square, 1, 0.03);
  EXPECT_NEAR(std::sqrt(log_squares - log_noise * log_noise), profile.model.noise_spread, 0.01);
}

// Chosen items are those the user likes: with selection, ratings are above ratings of items met by
// chance, by about cov(s, chance) / E[chance] of the signal.
TEST(RatingModel, UsersTakeWhatTheyLike) {
  synthetic::Profile profile = synthetic::find_profile("ml-1m");
  profile.scale = {-100, 100, 0};
  const auto mean_of_taken = [&](double selection) {
    profile.model = nothing_planted();
    profile.model.signal_sd = 1;
    profile.model.selection = selection;
    profile.popularity = {.power = 0, .tail = 0};
    const synthetic::ItemCatalog catalog(profile, {1000, 3000, 100'000}, 3);
    const synthetic::RatingModel model(profile, catalog, 3);
    synthetic::ItemSampler sampler(catalog);
    std::vector<std::int32_t> items(50);
    std::vector<float> values(50);
    double sum = 0;
    for (std::uint64_t u = 0; u < 2000; ++u) {
      Rng rng(8, u);
      const synthetic::User user = model.draw_user(0.5, rng);
      sampler.draw(
          {}, [&](std::int32_t i) { return model.chance(user, i); }, rng, items);
      model.draw_values(user, items, rng, values);
      for (const float v : values) sum += static_cast<double>(v);
    }
    return sum / (2000 * 50);
  };
  EXPECT_NEAR(mean_of_taken(0), 0, 0.05);
  // E[s c(s)] / E[c(s)] by numeric integration, c the logistic function of s - 1: .587; 50 of 3000
  // items taken leave a little less.
  EXPECT_NEAR(mean_of_taken(1), 0.58, 0.03);
}

}  // namespace
}  // namespace mf
