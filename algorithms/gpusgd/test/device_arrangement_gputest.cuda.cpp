// The device arranges ratings as the host does.
#include "algorithms/gpusgd/device_arrangement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/gpusgd/test/arrangement.hpp"
#include "algorithms/gpusgd/test/support.hpp"
#include "testing/cuda/back.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::gpusgd {
namespace {

void expect_numbers(const cuda::DeviceBuffer<std::int64_t>& made,
                    const std::vector<std::int64_t>& host, const char* what,
                    const cuda::Stream& stream) {
  const auto numbers = back(made, stream);
  EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), host.begin(), host.end())) << what;
}

void expect_arranged(const Settings& settings, const Ratings& train) {
  ThreadTeam team(2);
  cuda::Stream stream;
  cuda::DeviceRatings ratings(train, team, stream.get());
  const Arrangement host = arrange(settings, train);
  const DeviceArrangement made = arrange_on_device(settings, ratings, stream.get());
  EXPECT_EQ(made.cut.blocks, host.cut.blocks);
  EXPECT_EQ(made.cut.rows, host.cut.rows);
  EXPECT_EQ(made.cut.columns, host.cut.columns);
  const auto order = back(made.ratings, stream);
  ASSERT_EQ(std::ssize(order), train.nnz());
  for (std::int64_t i = 0; i < train.nnz(); ++i) {
    const Rating& expected = host.ratings[i];
    ASSERT_EQ(order[i].user, expected.user) << i;
    ASSERT_EQ(order[i].item, expected.item) << i;
    ASSERT_EQ(order[i].value, expected.value) << i;
  }
  if (settings.scheme == Scheme::grouped) {
    expect_numbers(made.first_group, host.first_group, "first groups", stream);
    expect_numbers(made.group_begins, host.group_begins, "groups", stream);
  } else {
    expect_numbers(made.offsets, host.offsets, "blocks", stream);
  }
  EXPECT_EQ(made.counts.blank, host.counts.blank);
  EXPECT_EQ(made.counts.steps, host.counts.steps);
  EXPECT_EQ(made.counts.serial, host.counts.serial);
}

TEST(DeviceArrangement, IsTheHosts) {
  std::vector<Ratings> all;
  for (const auto& [m, n, density] : {std::tuple{50, 50, 0.1},
                                      {20, 93, 0.2},
                                      {130, 17, 0.15},
                                      {1, 40, 0.4},
                                      {40, 1, 0.3},
                                      {1, 1, 1.0},
                                      {30, 20, 0.0},
                                      {3, 70'000, 0.1},
                                      {700, 700, 0.3}}) {
    all.push_back(random_matrix(m, n, density));
  }
  for (const Ratings& train : all) {
    for (const int blocks : {1, 2, 7, 64, 200}) {
      SCOPED_TRACE(testing::Message()
                   << train.n_users() << " x " << train.n_items() << ", l = " << blocks);
      for (const int threads : {1, 3, 256}) {
        expect_arranged(
            settings_of(Scheme::grouped, {{"blocks", blocks}, {"threads_per_block", threads}}),
            train);
      }
      expect_arranged(settings_of(Scheme::tree, {{"blocks", blocks}}), train);
    }
  }
}

}  // namespace
}  // namespace mf::gpusgd
