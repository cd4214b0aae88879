// batch_hogwild over devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/cumf_sgd/device_grid.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/cuda/rank_devices.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf::cumf_sgd {
namespace {

struct Outcome {
  Model model;
  Json facts, exchanged;
};

Outcome train(const Ratings& ratings, Json changes, double rate, int epochs, Communicator* ranks) {
  if (!changes.contains("sampling")) changes["sampling"] = "passes";
  const Params params = default_params(find_algorithm("batch_hogwild").params, changes);
  InitSpec init;
  init.scale = 0.3;
  const Model start = initial_model_of(params, ratings, init, 1);
  cuda::TestRunner runner("batch_hogwild", params, ratings, start, 1, ranks);
  EXPECT_GE(runner.run(1, epochs, rate), epochs * ratings.nnz());
  runner.of_ranks().gather_factors(runner.context);
  Outcome outcome;
  outcome.facts = runner.algorithm->facts();
  outcome.exchanged = runner.of_ranks().exchanged();
  if (ranks == nullptr || ranks->leads()) outcome.model = runner.model();
  return outcome;
}

// For one device: rows without ratings, segments of no item, and of no rating.
TEST(DeviceBlocks, HoldEachRatingOnceInItsSegment) {
  cuda::Stream stream;
  ThreadTeam team(2);
  const Dataset data = make_look_alike("ml-100k", 0.1, 1, 2);
  const Ratings& train = data.ratings;
  const std::int64_t n = train.n_items();
  const cuda::DeviceRatings ratings(train, team, stream.get());
  for (const std::vector<std::int64_t>& cuts :
       {std::vector<std::int64_t>{0, n}, {0, 0, n / 3, n / 3, n, n}}) {
    const DeviceBlocks blocks = make_device_blocks(ratings.rows(), 1000, cuts, 3, stream.get());
    std::vector<std::int32_t> users(train.nnz()), items(train.nnz());
    std::vector<float> values(train.nnz());
    cuda::download(View<std::int32_t>(users), blocks.users.data(), stream.get());
    cuda::download(View<std::int32_t>(items), blocks.items.data(), stream.get());
    cuda::download(View<float>(values), blocks.values.data(), stream.get());
    ASSERT_EQ(blocks.offsets.size(), cuts.size());
    EXPECT_EQ(blocks.offsets.back(), train.nnz());
    std::vector<std::tuple<std::int32_t, std::int32_t, float>> seen, all;
    for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
      for (std::int64_t i = blocks.offsets[b]; i < blocks.offsets[b + 1]; ++i) {
        ASSERT_GE(items[i], cuts[b]);
        ASSERT_LT(items[i], cuts[b + 1]);
        seen.emplace_back(users[i] - 1000, items[i], values[i]);
      }
    }
    for (std::int64_t i = 0; i < train.nnz(); ++i) {
      all.emplace_back(train[i].user, train[i].item, train[i].value);
    }
    EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end())) << "in random order";
    std::sort(seen.begin(), seen.end());
    std::sort(all.begin(), all.end());
    EXPECT_TRUE(seen == all);
  }
}

class HogwildDevices : public testing::TestWithParam<int> {};

TEST_P(HogwildDevices, EveryRatingIsVisitedOnceAPass) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    // Also fewer items than segments, and than ranks.
    for (const std::int32_t count : {4001, 3, 1}) {
      const Ratings ratings = test::paired_ratings(count);
      for (const Json& changes :
           {Json{{"factors", 24}, {"storage", "fp32"}}, Json{{"factors", 64}, {"storage", "fp16"}},
            Json{{"factors", 100}, {"storage", "fp32"}, {"mapping", "group"}, {"run", 7}}}) {
        const Outcome many = train(ratings, changes, 0.05, 3, &ranks);
        const Outcome single = train(ratings, changes, 0.05, 3, nullptr);
        EXPECT_TRUE(single.exchanged.is_null());
        EXPECT_TRUE(count < 1000 || many.exchanged["bytes_sent"] > 0);
        if (!ranks.leads()) continue;
        const std::string what = std::to_string(count) + " " + changes.dump();
        EXPECT_EQ(many.model.p, single.model.p) << what;
        EXPECT_EQ(many.model.q, single.model.q) << what;
      }
    }
  });
}

// Few updates at once make a round long beside a transfer, which is then waited for.
TEST_P(HogwildDevices, OneSegmentARankIsWaitedFor) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::paired_ratings(40'001);
    const Json changes = {{"factors", 40}, {"storage", "fp32"}, {"workers", 1}};
    const Outcome many = train(ratings, changes, 0.05, 3, &ranks);
    EXPECT_EQ(many.facts["segments"], ranks.size());
    const Outcome single = train(ratings, changes, 0.05, 3, nullptr);
    if (!ranks.leads()) return;
    EXPECT_EQ(many.model.p, single.model.p);
    EXPECT_EQ(many.model.q, single.model.q);
  });
}

// Block by block an epoch learns a little less, also if it is serial: within a round a user's row
// fits the items of one segment.
TEST_P(HogwildDevices, LearnAsOneDoes) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Dataset data = make_look_alike("ml-1m", 0.5, 1, 2);
    const Split split = make_split(data, {}, 2);
    for (const char* sampling : {"passes", "replacement"}) {
      const Json changes = {
          {"factors", 32}, {"reg", 0.05}, {"sampling", sampling}, {"workers", 32}};
      const Outcome many = train(split.train, changes, 0.01, 10, &ranks);
      const Outcome single = train(split.train, changes, 0.01, 10, nullptr);
      double own = many.facts["own_ratings_by_user"].get<double>();
      ranks.all_sum(std::span(&own, 1));
      EXPECT_EQ(own, static_cast<double>(split.train.nnz()));
      if (!ranks.leads()) continue;
      const double one = test::rmse(single.model, split.test);
      EXPECT_NEAR(test::rmse(many.model, split.test), one, 0.02 * one) << sampling;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, HogwildDevices, testing::Values(2, 3, 4));

}  // namespace
}  // namespace mf::cumf_sgd
