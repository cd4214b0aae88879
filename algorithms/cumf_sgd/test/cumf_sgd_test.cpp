// Orders and the wavefront's grid, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/grid.hpp"
#include "algorithms/cumf_sgd/order.hpp"
#include "algorithms/cumf_sgd/settings.hpp"
#include "datasets/synthetic.hpp"

namespace mf::cumf_sgd {
namespace {

TEST(Permutation, IsABijection) {
  for (const std::int64_t count : {1, 2, 3, 5, 64, 65, 1000, 4096, 99991}) {
    for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 60}) {
      const Permutation permutation = Permutation::of(count, seed);
      std::vector<bool> seen(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t to = permutation(static_cast<std::uint64_t>(i));
        ASSERT_LT(to, static_cast<std::uint64_t>(count));
        seen[to] = true;
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), count) << count << " " << seed;
    }
  }
}

// Neighbours go far from each other, and to any place equally often.
TEST(Permutation, IsRandom) {
  constexpr std::int64_t kCount = 100000;
  const Permutation permutation = Permutation::of(kCount, 7);
  std::array<int, 10> hits{};
  double distance = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto here = static_cast<double>(permutation(i));
    const auto next = static_cast<double>(permutation(i + 1));
    ++hits[static_cast<std::size_t>(here / (kCount / 10))];
    distance += std::abs(here - next) / kCount / 10000;
  }
  EXPECT_NEAR(distance, 1.0 / 3, 0.01) << "of two uniform numbers";
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - 1000, 2) / 1000;
  EXPECT_LT(chi2, 27.9) << "1 in 1000 for 9 degrees of freedom";
}

TEST(Draw, IsUniformAndNew) {
  std::array<int, 7> hits{};
  for (std::uint64_t slot = 0; slot < 70000; ++slot) ++hits[draw(1, 2, slot, 7)];
  double chi2 = 0;
  for (const int hit : hits) chi2 += std::pow(hit - 10000, 2) / 10000;
  EXPECT_LT(chi2, 22.5) << "1 in 1000 for 6 degrees of freedom";
  EXPECT_NE(draw(1, 2, 3, 1 << 30), draw(1, 3, 3, 1 << 30));
  EXPECT_NE(draw(1, 2, 3, 1 << 30), draw(2, 2, 3, 1 << 30));
}

using Triples = std::multiset<std::tuple<std::int32_t, std::int32_t, float>>;

TEST(Grid, HoldsEveryRatingOnceInItsBlock) {
  const Dataset data = make_look_alike("ml-100k", 0.1, 1, 2);
  const Ratings& train = data.ratings;
  Triples expected;
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    expected.insert({train[i].user, train[i].item, train[i].value});
  }
  ThreadTeam team(3);
  for (const auto& [bands, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                       {1, 7},
                                       {5, 1},
                                       {13, 26},
                                       {200, 400},
                                       {3000, 5000}}) {
    const WavefrontGrid grid = make_grid(train, bands, columns, 1, team);
    Triples seen;
    std::vector<std::set<std::int64_t>> bands_of(static_cast<std::size_t>(train.n_users()));
    std::vector<std::set<std::int64_t>> columns_of(static_cast<std::size_t>(train.n_items()));
    ASSERT_EQ(grid.offsets.size(), static_cast<std::size_t>(bands * columns) + 1);
    EXPECT_TRUE(std::is_sorted(grid.offsets.begin(), grid.offsets.end()));
    EXPECT_EQ(grid.offsets.front(), 0);
    EXPECT_EQ(grid.offsets.back(), train.nnz());
    for (std::int64_t block = 0; block < bands * columns; ++block) {
      for (std::int64_t i = grid.offsets[static_cast<std::size_t>(block)];
           i < grid.offsets[static_cast<std::size_t>(block) + 1]; ++i) {
        const auto k = static_cast<std::size_t>(i);
        seen.insert({grid.users[k], grid.items[k], grid.values[k]});
        bands_of[static_cast<std::size_t>(grid.users[k])].insert(block / columns);
        columns_of[static_cast<std::size_t>(grid.items[k])].insert(block % columns);
      }
    }
    EXPECT_EQ(seen, expected) << bands << " x " << columns;
    for (const auto& of : bands_of) EXPECT_LE(of.size(), 1u) << "a user in two bands";
    for (const auto& of : columns_of) EXPECT_LE(of.size(), 1u) << "an item in two columns";
  }
}

TEST(Grid, BandsHaveAboutEqualNumbersOfRatings) {
  const Dataset data = make_look_alike("ml-100k", 1.0, 1, 2);
  ThreadTeam team(2);
  const WavefrontGrid grid = make_grid(data.ratings, 20, 40, 1, team);
  const double even = static_cast<double>(data.ratings.nnz()) / 20;
  for (std::size_t band = 0; band < 20; ++band) {
    const auto count = static_cast<double>(grid.offsets[(band + 1) * 40] - grid.offsets[band * 40]);
    EXPECT_NEAR(count, even, 800) << "a user has at most about 700 ratings";
  }
}

TEST(Grid, EmptyMatrix) {
  ThreadTeam team(1);
  Ratings::Arrays arrays;
  arrays.user_offsets = {0, 0};
  arrays.user_ids = {1};
  arrays.item_ids = {1};
  const WavefrontGrid grid = make_grid(Ratings(std::move(arrays)), 2, 3, 1, team);
  EXPECT_EQ(grid.offsets, std::vector<std::int64_t>(7, 0));
}

TEST(Settings, NegativeRegularizersTakeTheCommonOne) {
  const Settings settings = read_settings(
      default_params(find_algorithm("batch_hogwild").params, {{"reg", 0.5}, {"reg_q", 0.25}}));
  EXPECT_EQ(settings.reg.p, 0.5);
  EXPECT_EQ(settings.reg.q, 0.25);
}

}  // namespace
}  // namespace mf::cumf_sgd
