// Data of als_fused on the device against the host's: parts of rows, the center, the entries.
#include <gtest/gtest.h>

#include "algorithms/als/cumf/device_plan.hpp"
#include "algorithms/als/cumf/split_side.hpp"
#include "algorithms/als/fused/entries.hpp"
#include "algorithms/als/sides.hpp"
#include "algorithms/als/test/plan_fused.hpp"
#include "algorithms/als/test/reference.hpp"
#include "algorithms/als/test/side_plan.hpp"
#include "algorithms/core/cuda/ratings/cut_rows.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::als {
namespace {

using test::FusedPlan;
using test::plan_fused;

TEST(CutRows, AreThePlan) {
  cuda::Stream stream;
  Rng rng(5);
  for (const int rows : {1, 3, 300, 20'000}) {
    std::vector<std::int64_t> offsets = {0};
    for (int row = 0; row < rows; ++row) {
      const auto length =
          static_cast<std::int64_t>(rng.below(1 + rng.below(row % 100 == 7 ? 90'000 : 300)));
      offsets.push_back(offsets.back() + length);
    }
    const auto device = cuda::upload(View<const std::int64_t>(offsets), stream.get());
    for (const std::int64_t longest : {1LL, 32LL, 1000LL, 8192LL, 1LL << 30, 1LL << 40}) {
      if (offsets.back() / longest > 3'000'000) continue;
      const FusedPlan plan = plan_fused(offsets, longest);
      const cuda::DeviceParts cut = cuda::cut_rows(device.data(), rows, longest, stream.get());
      EXPECT_EQ(cut.slots, plan.slots);
      ASSERT_TRUE(back(cut.parts, stream) == plan.tasks) << rows << " at " << longest;
    }
  }
}

void expect_plan(const std::int64_t* device, const std::vector<std::int64_t>& offsets,
                 const PlanRule& rule, const cuda::Stream& stream) {
  const test::SidePlan host = test::make_side_plan(View<const std::int64_t>(offsets), rule);
  RowOrder order = order_rows(device, std::ssize(offsets) - 1, rule.split_rows, stream.get());
  EXPECT_EQ(order.rated, std::ssize(host.order));
  EXPECT_EQ(order.split.size(), host.splits.size());
  EXPECT_EQ(order.parts, test::all_parts(View<const std::int64_t>(offsets), rule.split_rows));
  const SidePlan plan = make_side_plan(device, std::move(order), rule, stream.get());
  EXPECT_TRUE(back(plan.order.data(), std::ssize(host.order), stream) == host.order);
  EXPECT_TRUE(back(plan.tasks, stream) == host.tasks);
  EXPECT_TRUE(back(plan.bias_tasks, stream) == host.bias_tasks);
  EXPECT_TRUE(back(plan.splits, stream) == host.splits);
  EXPECT_TRUE(back(plan.bias_splits, stream) == host.bias_splits);
  EXPECT_TRUE(plan.batches == host.batches);
  EXPECT_EQ(plan.most_rows, host.most_rows);
  EXPECT_EQ(plan.most_parts, host.most_parts);
  EXPECT_EQ(plan.most_bias_parts, host.most_bias_parts);
}

TEST(AlsDevicePlan, IsTheHosts) {
  cuda::Stream stream;
  Rng rng(6);
  for (const int rows : {0, 1, 3, 300, 70'000}) {
    for (const int longest : {1, 300, 90'000}) {
      std::vector<std::int64_t> offsets = {0};
      for (int row = 0; row < rows; ++row) {
        const auto length = rng.below(1 + rng.below(row % 100 == 2 ? longest : 40));
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
      }
      const auto device = cuda::upload(View<const std::int64_t>(offsets), stream.get());
      for (const std::int64_t batch_rows : {1, 7, 64, 100'000}) {
        if (rows / batch_rows > 1000) continue;
        for (const std::int64_t split : {0, 20, 8192}) {
          for (const std::int64_t parts : {kMaxRowParts, std::int64_t{1000}}) {
            SCOPED_TRACE(testing::Message() << rows << " rows, batches of " << batch_rows
                                            << ", cut at " << split << ", parts " << parts);
            expect_plan(device.data(), offsets, {batch_rows, parts, split}, stream);
          }
        }
      }
    }
  }
}

TEST(AlsDevicePlan, ABatchThatCannotHoldOneRowIsAnError) {
  cuda::Stream stream;
  const std::vector<std::int64_t> offsets = {0, 1000};
  const auto device = cuda::upload(View<const std::int64_t>(offsets), stream.get());
  EXPECT_THROW(make_side_plan(device.data(), order_rows(device.data(), 1, 100, stream.get()),
                              {1, 2, 100}, stream.get()),
               std::logic_error);
}

TEST(DeviceCenter, IsTheHosts) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const Ratings train = test::planted(500, 90, 0.2, 4);
  ModelShape shape;
  shape.kind = ModelKind::plain;
  shape.n_users = train.n_users();
  shape.n_items = train.n_items();
  shape.factors = 4;
  for (const CenterKind kind : {CenterKind::none, CenterKind::mean, CenterKind::biases}) {
    const Sides sides(train, kind, 0.1, team);
    const Center& host = sides.center();
    cuda::DeviceRatings ratings(train, team, stream.get());
    const DeviceCenter center(shape, kind, 0.1, ratings, stream.get());
    const FactorView view = center.view(nullptr, nullptr, 4);
    EXPECT_NEAR(view.mean, host.mean, 1e-12);
    ASSERT_EQ(view.user_bias == nullptr, host.user_bias.empty());
    if (kind == CenterKind::none) continue;
    const auto users = back(view.user_bias, train.n_users(), stream);
    const auto items = back(view.item_bias, train.n_items(), stream);
    for (std::size_t u = 0; u < users.size(); ++u) {
      ASSERT_NEAR(users[u], host.user_bias[u], 1e-6) << u;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSERT_NEAR(items[i], host.item_bias[i], 1e-6) << i;
    }
  }
}

struct UploadedCenter {
  UploadedCenter(const Center& center, const cuda::Stream& stream)
      : user_bias(cuda::upload(View<const float>(center.user_bias), stream.get())),
        item_bias(cuda::upload(View<const float>(center.item_bias), stream.get())),
        residual{static_cast<float>(center.mean), user_bias.data(), item_bias.data()} {}
  cuda::DeviceBuffer<float> user_bias, item_bias;
  DeviceResidual residual;
};

TEST(Entries, AreThoseOfTheHostsSides) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const Ratings train = test::planted(300, 90, 0.2, 4);
  for (const CenterKind kind : {CenterKind::none, CenterKind::mean, CenterKind::biases}) {
    const Sides sides(train, kind, 0.1, team);
    cuda::DeviceRatings ratings(train, team, stream.get());
    const UploadedCenter center(sides.center(), stream);
    for (const bool of_users : {true, false}) {
      const Side side = of_users ? sides.users() : sides.items();
      cuda::DeviceBuffer<FusedEntry> entries(train.nnz());
      const auto rows = of_users ? ratings.rows() : ratings.columns(stream.get());
      make_entries(rows, of_users, center.residual, 0.25F, entries.data(), stream.get());
      const auto made = back(entries.data(), train.nnz(), stream);
      float most = 0;
      for (std::int64_t i = 0; i < train.nnz(); ++i) {
        const FusedEntry expected = fused_entry(side.others[i], 0.25F * side.values[i]);
        ASSERT_EQ(made[i].other, expected.other) << i;
        ASSERT_EQ(made[i].rating, expected.rating) << i;
        most = std::max(most, std::abs(side.values[i]));
      }
      EXPECT_EQ(largest_rating(rows, of_users, center.residual, stream.get()), most);
    }
  }
}

TEST(SplitSide, IsTheHostsSide) {
  ThreadTeam team(2);
  cuda::Stream stream;
  const Ratings train = test::planted(300, 90, 0.2, 4);
  for (const CenterKind kind : {CenterKind::none, CenterKind::biases}) {
    const Sides sides(train, kind, 0.1, team);
    cuda::DeviceRatings ratings(train, team, stream.get());
    const UploadedCenter center(sides.center(), stream);
    for (const bool of_users : {true, false}) {
      const Side side = of_users ? sides.users() : sides.items();
      const SplitSide made = split_side(of_users ? ratings.rows() : ratings.columns(stream.get()),
                                        of_users, center.residual, stream.get());
      EXPECT_EQ(made.rows, side.rows());
      const auto seen = back(made.others.data(), train.nnz(), stream);
      const auto numbers = back(made.values.data(), train.nnz(), stream);
      for (std::int64_t i = 0; i < train.nnz(); ++i) {
        ASSERT_EQ(seen[i], side.others[i]) << i;
        ASSERT_EQ(numbers[i], side.values[i]) << i;
      }
    }
  }
}

TEST(Entries, ANumberThatIsNoneIsInfinitelyLarge) {
  ThreadTeam team(1);
  cuda::Stream stream;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Ratings train = test::ratings_of(2, 2, {{0, 0, 1}, {0, 1, nan}, {1, 0, -3}});
  const cuda::DeviceRatings ratings(train, team, stream.get());
  EXPECT_EQ(largest_rating(ratings.rows(), true, {}, stream.get()),
            std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace mf::als
