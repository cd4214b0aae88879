// Negative, mixed and large ratings, through the whole harness: the algorithms of the host, and the
// start of those on the device.
#include "harness/test/rating_ranges.hpp"

#include "algorithms/core/model.hpp"
#include "datasets/split/split.hpp"
#include "harness/evaluate/evaluator.hpp"
#include "harness/run/data/data_store.hpp"

namespace mf {
namespace {

TEST(RatingRanges, EveryAlgorithmOfTheHostBeatsTheMean) {
  EXPECT_EQ(testing::expect_all_beat_the_mean(Hardware::cpu),
            (std::set<std::string>{"als_cpu", "bpmf_cpu", "ccd++_cpu", "fpsgd", "hogwild",
                                   "sgd_serial", "svdpp_cpu"}));
}

TEST(RatingRanges, ImplicitFeedbackRefusesNegativeValues) {
  EXPECT_EQ(testing::expect_negative_values_are_refused(Hardware::cpu),
            (std::set<std::string>{"bpr_cpu", "ials_cpu", "ials_pp_cpu"}));
}

// The part of the device's algorithms that runs here: they are given a model that predicts about
// the mean, and factors from which gradients and half-steps lead somewhere.
TEST(RatingRanges, EveryAlgorithmStartsAtTheMeanButNotInASaddlePoint) {
  const testing::RangeFiles files;
  for (const testing::RatingRange& range : testing::rating_ranges()) {
    const std::string file = testing::write_ratings(range, files);
    for (const AlgorithmInfo* info : all_algorithms()) {
      if (info->implicit || !testing::is_ours(*info)) continue;
      const Spec spec = parse_spec(
          {{"datasets", {{{"path", file}}}}, {"algorithms", {testing::entry_of(*info, range)}}},
          "start.json");
      DataStore store;
      for (const Case& item : spec.cases) {
        const auto split = store.get(item).split;
        const Model model = initial_model_of(item.params, split->train, item.init, 1);
        ThreadTeam team(1);
        const Evaluator evaluator(split->train);
        const double rmse = evaluator.evaluate(model.view(), split->test, team).rmse;
        const double mean = evaluator.evaluate_mean(split->test, team).rmse;
        const std::string what = range.name + ", " + item.algorithm;
        const double level = std::max(range.spread, std::abs(range.middle));
        EXPECT_LT(rmse, std::hypot(mean, 0.5 * level)) << what;
        double largest = 0;
        for (const float x : model.q) largest = std::max(largest, std::abs(double{x}));
        EXPECT_GT(largest, 0.1) << what;
      }
    }
  }
}

}  // namespace
}  // namespace mf
