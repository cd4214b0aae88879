// sgd_tiled over devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/ring.hpp"
#include "base/json/json.hpp"
#include "datasets/split/split.hpp"
#include "datasets/synthetic/synthetic.hpp"
#include "testing/cuda/rank_devices.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf::sgd_tiled {
namespace {

Model train(const Ratings& ratings, const Json& changes, double rate, int epochs,
            Communicator* ranks, Json* facts = nullptr) {
  const Params params = default_params(find_algorithm("sgd_tiled").params, changes);
  InitSpec init;
  init.kind = InitKind::uniform;
  const Model start = initial_model_of(params, ratings, init, 1);
  cuda::TestRunner runner("sgd_tiled", params, ratings, start, 1, ranks);
  EXPECT_EQ(runner.run(1, epochs, rate), epochs * ratings.nnz());
  runner.of_ranks().gather_factors(runner.context);
  if (facts != nullptr) *facts = runner.algorithm->facts();
  return ranks == nullptr || ranks->leads() ? runner.model() : Model{};
}

class TiledDevices : public testing::TestWithParam<int> {};

TEST_P(TiledDevices, EveryRatingIsVisitedOnceAPass) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    // Also fewer items than blocks, and than ranks.
    for (const std::int32_t count : {4001, 3, 1}) {
      const Ratings ratings = test::paired_ratings(count);
      for (const Json& changes :
           {Json{{"factors", 24}, {"storage", "fp32"}},
            Json{{"factors", 20}, {"storage", "fp32"}, {"model", "biased"}},
            Json{{"factors", 64}, {"storage", "fp16"}, {"rounding", "nearest"}},
            Json{{"factors", 100}, {"storage", "fp32"}, {"writes", "store"}}}) {
        const Model many = train(ratings, changes, 0.05, 3, &ranks);
        const Model single = train(ratings, changes, 0.05, 3, nullptr);
        if (!ranks.leads()) continue;
        const std::string what = std::to_string(count) + " " + changes.dump();
        EXPECT_EQ(many.p, single.p) << what;
        EXPECT_EQ(many.q, single.q) << what;
        EXPECT_EQ(many.user_bias, single.user_bias) << what;
        EXPECT_EQ(many.item_bias, single.item_bias) << what;
      }
    }
  });
}

TEST_P(TiledDevices, EveryRatingIsVisitedOnceInLaps) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::paired_ratings(1'000'001);
    const Json changes = {{"factors", 24}, {"storage", "fp32"}, {"workers", 1}};  // long rounds
    Json facts;
    const Model many = train(ratings, changes, 0.05, 2, &ranks, &facts);
    EXPECT_EQ(facts["laps"], kMostLaps);
    const Model single = train(ratings, changes, 0.05, 2, nullptr);
    if (!ranks.leads()) return;
    EXPECT_EQ(many.p, single.p);
    EXPECT_EQ(many.q, single.q);
  });
}

TEST_P(TiledDevices, LearnAsOneDoes) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Dataset data = make_look_alike("ml-1m", 0.5, 1, 2);
    const Split split = make_split(data, {}, 2);
    for (const char* model : {"plain", "biased"}) {
      const Json changes = {{"factors", 32}, {"reg", 0.05}, {"model", model}, {"workers", 64}};
      const Model many = train(split.train, changes, 0.01, 10, &ranks);
      const Model single = train(split.train, changes, 0.01, 10, nullptr);
      if (!ranks.leads()) continue;
      const double one = test::rmse(single, split.test);
      EXPECT_NEAR(test::rmse(many, split.test), one, 0.01 * one) << model;
    }
  });
}

// With as many groups on each device, an item of a block has so many times as many; but popular
// items are not thinned to less than one writer at once.
TEST_P(TiledDevices, ThinTheItemsOfTheirBlocksMore) {
  cuda::in_ranks(GetParam(), [](Communicator& ranks) {
    const Ratings ratings = test::paired_ratings(10'000);
    const auto facts_of = [&](int workers, int above) {
      const Json changes = {{"factors", 64}, {"workers", workers}, {"thin_above", above}};
      Json facts;
      train(ratings, changes, 0.01, 1, &ranks, &facts);
      return facts;
    };
    const Json popular = facts_of(256, 20'000);
    EXPECT_EQ(popular.at("thin_above"), 20'000 / (ranks.size() * popular.at("halves").get<int>()));
    EXPECT_EQ(facts_of(4, 100).at("thin_above"), 100);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, TiledDevices, testing::Values(2, 3, 4));

}  // namespace
}  // namespace mf::sgd_tiled
