// Data that the algorithms for implicit feedback make on the device against the host's: pairs,
// entries, tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/ials/device_pairs.hpp"
#include "algorithms/ials/fused/entries.hpp"
#include "algorithms/ials/fused/plan.hpp"
#include "algorithms/ials/sides.hpp"
#include "algorithms/ials/test/plan_reference.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/triples.hpp"

namespace mf::ials {
namespace {

// Values of 0 to 5 if `zeros`, else of 1 to 5. A third of the users has no pairs, user 1 many.
Ratings clicks(std::int32_t users, std::int32_t items, double density, bool zeros,
               std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < users; ++u) {
    for (std::int32_t i = 0; i < items; ++i) {
      const double chance = u == 1 ? 1 : u % 3 == 0 ? 0 : density;
      if (rng.uniform() >= chance) continue;
      const bool none = zeros && (u % 7 == 4 || rng.uniform() < 0.3);
      list.push_back({u, i, none ? 0.0F : static_cast<float>(1 + rng.below(5)) / 3});
    }
  }
  return mf::test::ratings_of(users, items, list);
}

std::vector<Ratings> several() {
  std::vector<Ratings> all;
  for (const bool zeros : {false, true}) {
    all.push_back(clicks(2, 1, 1, zeros, 1));
    all.push_back(clicks(300, 90, 0.2, zeros, 2));
    all.push_back(clicks(2, 5000, 0.5, zeros, 3));
    all.push_back(clicks(8, 70'000, 0.01, zeros, 4));
    all.push_back(mf::test::ratings_of(3, 4, {{0, 1, zeros ? 0.0F : 2.0F}}));
  }
  all.push_back(mf::test::ratings_of(3, 4, {}));
  return all;
}

void expect_side(const cuda::RatingsOfRows& made, const als::Side& side, double alpha,
                 const cuda::Stream& stream) {
  ASSERT_EQ(made.rows, side.rows());
  ASSERT_EQ(made.nnz, side.nnz());
  const auto offsets = back(made.offsets, made.rows + 1, stream);
  ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), side.offsets.begin()));
  const auto pairs = back(made.ratings, made.nnz, stream);
  const als::SplitSide split = split_pairs(made, alpha, stream.get());
  const auto others = back(split.others.data(), made.nnz, stream);
  const auto weights = back(split.values.data(), made.nnz, stream);
  for (std::int64_t i = 0; i < made.nnz; ++i) {
    ASSERT_EQ(pairs[i].other, side.others[i]) << i;
    ASSERT_EQ(pair_weight(pairs[i].value, alpha), side.values[i]) << i;
    ASSERT_EQ(others[i], side.others[i]) << i;
    ASSERT_EQ(weights[i], side.values[i]) << i;
  }
}

std::int64_t rated(const als::Side& side) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < side.rows(); ++row) count += side.length(row) > 0 ? 1 : 0;
  return count;
}

TEST(DevicePairs, AreTheHostsSides) {
  ThreadTeam team(2);
  cuda::Stream stream;
  for (const Ratings& train : several()) {
    for (const double alpha : {1.0, 0.3, 40.0}) {
      for (const bool kept : {false, true}) {
        const ImplicitLoss loss = {alpha, 0, 0};
        const Sides sides(train, loss, team);
        cuda::DeviceRatings ratings(train, team, stream.get());
        if (kept) ratings.keep();
        DevicePairs pairs(train, loss, ratings, stream.get());
        EXPECT_EQ(pairs.count(), sides.users().nnz());
        expect_side(pairs.items(), sides.items(), alpha, stream);
        pairs.release_items();
        expect_side(pairs.users(), sides.users(), alpha, stream);
        pairs.release_users();
        EXPECT_EQ(pairs.rated_rows(), rated(sides.users()) + rated(sides.items()));
        float least = 0;
        float most = 0;
        if (sides.users().nnz() > 0) {
          const auto values = sides.users().values;
          least = *std::min_element(values.begin(), values.end());
          most = *std::max_element(values.begin(), values.end());
        }
        EXPECT_EQ(pairs.weights().least, least);
        EXPECT_EQ(pairs.weights().most, most);
      }
    }
  }
}

std::string told(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The first of several, with the host's words.
TEST(DevicePairs, RefuseWhatTheHostRefuses) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float value : {-1.0F, infinite, std::nanf(""), 1e38F, 1e-44F, -0.0F, 3.0F}) {
    std::vector<Rating> list;
    for (std::int32_t u = 0; u < 3000; ++u) list.push_back({u, u % 40, u > 2000 ? value : 2.0F});
    const Ratings train = mf::test::ratings_of(3000, 40, list);
    const ImplicitLoss loss = {100, 0, 0};
    const std::string host = told([&] { const Sides sides(train, loss, team); });
    EXPECT_EQ(host.empty(), value == 0 || value == 3) << value;
    cuda::DeviceRatings ratings(train, team, stream.get());
    EXPECT_EQ(told([&] { const DevicePairs pairs(train, loss, ratings, stream.get()); }), host)
        << value;
  }
}

TEST(DevicePairs, RowsAreShrunkAsTheHostDoes) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const Ratings train = clicks(300, 90, 0.2, false, 2);
  for (const double exponent : {0.0, 0.5, 1.0, 1.7}) {
    const ImplicitLoss loss = {3, 0.07, exponent};
    const Sides sides(train, loss, team);
    const cuda::DeviceRatings ratings(train, team, stream.get());
    cuda::DeviceBuffer<float> regs(train.n_users());
    fill_row_regs(ratings.rows().offsets, train.n_users(), train.n_items(), loss, regs.data(),
                  stream.get());
    const auto made = back(regs.data(), train.n_users(), stream);
    const auto expected = row_regs(sides.users(), train.n_items(), loss);
    for (std::int64_t u = 0; u < train.n_users(); ++u) {
      EXPECT_NEAR(made[u], expected[u], exponent == 0 ? 0 : 1.2e-7 * expected[u]) << u;
    }
  }
}

TEST(IalsFusedEntries, AreThoseOfTheHostsSides) {
  ThreadTeam team(2);
  cuda::Stream stream;
  std::vector<Ratings> all = several();
  std::vector<Rating> equal;
  for (std::int32_t u = 0; u < 50; ++u) equal.push_back({u, u * 7 % 30, 3});
  all.push_back(mf::test::ratings_of(50, 30, equal));
  for (const Ratings& train : all) {
    for (const double alpha : {1.0, 0.3, 40.0}) {
      const ImplicitLoss loss = {alpha, 0, 0};
      const Sides sides(train, loss, team);
      cuda::DeviceRatings ratings(train, team, stream.get());
      DevicePairs pairs(train, loss, ratings, stream.get());
      const Weighting weighting = weighting_of(pairs.weights());
      for (const bool users : {false, true}) {
        const als::Side side = users ? sides.users() : sides.items();
        const cuda::RatingsOfRows rows = users ? pairs.users() : pairs.items();
        cuda::DeviceBuffer<als::FusedEntry> entries(rows.nnz);
        make_entries(rows, alpha, weighting, entries.data(), stream.get());
        const auto made = back(entries.data(), rows.nnz, stream);
        for (std::int64_t i = 0; i < rows.nnz; ++i) {
          const als::FusedEntry expected =
              als::fused_entry(side.others[i], static_cast<float>(weighting.entry(side.values[i])));
          ASSERT_EQ(made[i].other, expected.other) << i;
          ASSERT_EQ(made[i].rating, expected.rating) << i;
        }
      }
    }
  }
}

TEST(IalsFusedPlan, IsTheHosts) {
  cuda::Stream stream;
  const als::AppliedLimits limits = {233472, 232448};
  Rng rng(7);
  for (const int rows : {1, 2, 300, 70'000}) {
    std::vector<std::int64_t> offsets = {0};
    for (int row = 0; row < rows; ++row) {
      const auto length = rng.below(1 + rng.below(row % 500 == 1 ? 20'000 : 400));
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
    }
    const auto device = cuda::upload(View<const std::int64_t>(offsets), stream.get());
    for (const std::int64_t longest : {32LL, 300LL, 8192LL, 1LL << 30}) {
      for (const std::int64_t up_to : {-1, 0, 52, 381}) {
        const test::HostPlan host =
            test::plan_side(View<const std::int64_t>(offsets), longest, up_to);
        for (const int factors : {64, 128, 256}) {
          als::AppliedChoice choice;
          choice.factors = factors;
          const als::AppliedCapacities most = als::applied_capacities(limits, choice);
          const SidePlan plan = plan_side(device.data(), rows, longest, up_to, most, stream.get());
          EXPECT_EQ(plan.formed, host.formed);
          EXPECT_EQ(plan.slots, host.slots);
          EXPECT_TRUE(plan.applied == test::plan_applied(View<const als::FusedTask>(host.tasks),
                                                         host.formed, most));
          ASSERT_TRUE(back(plan.tasks, stream) == host.tasks) << rows << ", " << longest;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mf::ials
