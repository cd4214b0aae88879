// Schedules and stopping rules against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json/form.hpp"
#include "base/json/json.hpp"
#include "harness/experiment/schedule.hpp"
#include "harness/experiment/stopping.hpp"

namespace mf {
namespace {

Schedule schedule_of(const char* json) {
  return Schedule(schedule_form().parse(parse_json(json, "t"), "$.schedule"));
}

TEST(Schedule, ConstantStaysWhatItIs) {
  Schedule s = schedule_of(R"({"learning_rate": 0.01})");
  s.observe(1);
  s.observe(2);
  EXPECT_EQ(s.rate(1), 0.01);
  EXPECT_EQ(s.rate(100), 0.01);
}

TEST(Schedule, InversePowerIsAlphaOverOnePlusBetaTToTheThreeHalves) {
  const Schedule s =
      schedule_of(R"({"kind": "inverse_power", "learning_rate": 0.08, "beta": 0.3})");
  EXPECT_DOUBLE_EQ(s.rate(1), 0.08);
  EXPECT_DOUBLE_EQ(s.rate(2), 0.08 / 1.3);
  EXPECT_DOUBLE_EQ(s.rate(5), 0.08 / (1 + 0.3 * 8));
}

TEST(Schedule, ExponentialFallsByTheFactorEachEpoch) {
  const Schedule s = schedule_of(R"({"kind": "exponential", "learning_rate": 1, "decay": 0.5})");
  EXPECT_DOUBLE_EQ(s.rate(1), 1);
  EXPECT_DOUBLE_EQ(s.rate(4), 0.125);
}

TEST(Schedule, PlateauFallsAfterPatienceEvaluationsWithoutImprovement) {
  Schedule s =
      schedule_of(R"({"kind": "plateau", "learning_rate": 0.01, "patience": 2, "decay": 0.2})");
  for (const double rmse : {1.0, 0.9, 0.95}) s.observe(rmse);
  EXPECT_DOUBLE_EQ(s.rate(4), 0.01);
  s.observe(0.91);
  EXPECT_DOUBLE_EQ(s.rate(5), 0.002);
  s.observe(0.8);
  s.observe(0.85);
  EXPECT_DOUBLE_EQ(s.rate(7), 0.002) << "an improvement starts the count anew";
}

Stopping stopping_of(const char* json) {
  Stopping s(stop_form().parse(parse_json(json, "t"), "$.stop"));
  s.start({1.0, 0.1});
  return s;
}

StopInput at(std::int64_t epoch, double rmse, double train_s = 0, double wall_s = 0) {
  MetricValues metrics;
  metrics.set(kTestRmse, rmse);
  return {epoch, train_s, wall_s, true, metrics};
}

TEST(Stopping, EndsAfterTheEpochsAskedFor) {
  Stopping s = stopping_of(R"({"epochs": 3})");
  EXPECT_FALSE(s.check(at(2, 0.9)));
  EXPECT_EQ(s.check(at(3, 0.9))->status, Status::completed);
}

TEST(Stopping, NamesTheTimeLimitThatFired) {
  Stopping s = stopping_of(R"({"epochs": 99, "train_seconds": 2, "wall_seconds": 5})");
  EXPECT_FALSE(s.check(at(1, 0.9, 1.9, 3)));
  EXPECT_EQ(s.check(at(2, 0.9, 2.1, 3))->status, Status::completed);
  EXPECT_EQ(s.check(at(2, 0.9, 1.9, 5.1))->status, Status::timeout);
}

TEST(Stopping, DivergesOnNaNAndAboveTheStart) {
  Stopping s = stopping_of("{}");
  EXPECT_FALSE(s.check(at(0, 7))) << "the initial model is what it is";
  EXPECT_FALSE(s.check(at(1, 1.049)));
  EXPECT_EQ(s.check(at(2, 1.051))->status, Status::diverged);
  EXPECT_EQ(s.check(at(2, std::nan("")))->status, Status::diverged);
  EXPECT_EQ(s.check(at(2, std::numeric_limits<double>::infinity()))->status, Status::diverged);
  Stopping loose = stopping_of(R"({"divergence": 2})");
  EXPECT_FALSE(loose.check(at(1, 1.9)));
  EXPECT_EQ(loose.check(at(2, 2.1))->status, Status::diverged);
}

// Epoch 0 at .9 (ALS whose biases are removed first), the mean's RMSE 1: five times 1.05 of it is
// the limit, and overfitting is far below.
TEST(Stopping, OverfittingIsNoDivergence) {
  Stopping s(stop_form().parse(parse_json("{}", "t"), "$.stop"));
  s.start({0.9, 1.0});
  EXPECT_FALSE(s.check(at(0, 0.9)));
  EXPECT_FALSE(s.check(at(1, 1.3)));
  EXPECT_FALSE(s.check(at(2, 5.249)));
  const auto decision = s.check(at(3, 5.251));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->status, Status::diverged);
  EXPECT_EQ(decision->reason,
            "test RMSE 5.2510 after epoch 3 is over 1.05 x the larger of that of the initial model "
            "(0.9000) and 5 x that of predicting the mean (1.0000)");
}

TEST(Stopping, AnObjectiveDivergesAboveThatOfZeros) {
  Stopping s(stop_form().parse(parse_json(R"({"divergence": 1})", "t"), "$.stop"), kObjective);
  s.start({80, 100});
  const auto objective = [](std::int64_t epoch, double value) {
    StopInput input{epoch, 0, 0, true, {}};
    input.metrics.set(kObjective, value);
    return input;
  };
  EXPECT_FALSE(s.check(objective(1, 99)));
  EXPECT_EQ(s.check(objective(2, 101))->status, Status::diverged);
  EXPECT_EQ(s.check(objective(2, 101))->reason,
            "objective 101 after epoch 2 is over 1 x the larger of that of the initial model (80) "
            "and that of a model of zeros (100)");
}

StopInput unseen(std::int64_t epoch, double value, Metric metric = kValidationRmse) {
  StopInput input = at(epoch, 0.5);
  input.metrics.set(metric, value);
  return input;
}

TEST(Stopping, APlateauIsNotSeenInWhatWasNotComputed) {
  Stopping s =
      stopping_of(R"({"epochs": 99, "plateau": {"patience": 2, "monitor": "validation_mae"}})");
  StopInput input = at(1, 0.9);
  for (input.epoch = 1; input.epoch < 9; ++input.epoch) {
    EXPECT_FALSE(s.check(input)) << input.epoch;
  }
  input.metrics.set(Metric::named("validation_mae"), 0.7);
  EXPECT_FALSE(s.check(input));
  EXPECT_FALSE(s.check(input)) << "one of two";
  EXPECT_TRUE(s.check(input));
}

TEST(Stopping, MeetsATargetOfAnyMetricAndWatchesIt) {
  const char* spec = R"({"target": {"metric": "test_mae", "value": 0.7},
                         "plateau": {"patience": 1, "monitor": "ndcg@10"}})";
  Stopping s = stopping_of(spec);
  const Metric ndcg = Metric::named("ndcg", 10), mae = Metric::named("test_mae");
  EXPECT_FALSE(s.check(unseen(1, 0.2, ndcg)));
  EXPECT_FALSE(s.check(unseen(2, 0.3, ndcg))) << "more is better";
  EXPECT_EQ(s.check(unseen(3, 0.7, mae))->reason, "reached the target test_mae 0.7 after epoch 3");
  EXPECT_EQ(s.check(unseen(4, 0.3, ndcg))->reason, "no better NDCG@10 in 1 evaluations");
  EXPECT_EQ(stop_form().parse(parse_json(spec, "t"), "$.stop").to_json()["plateau"]["monitor"],
            "ndcg_10");
}

TEST(Schedule, APlateauIsNotSeenInWhatWasNotComputed) {
  Schedule s = schedule_of(R"({"kind": "plateau", "learning_rate": 1, "patience": 1})");
  for (int i = 0; i < 5; ++i) s.observe(std::nan(""));
  EXPECT_EQ(s.rate(6), 1);
}

// The initial model was not reached by training: a worse model may still be the best.
TEST(Stopping, Epoch0IsNoBest) {
  Stopping plateau = stopping_of(R"({"plateau": {"patience": 2}})");
  EXPECT_FALSE(plateau.check(unseen(0, 0.5)));
  EXPECT_FALSE(plateau.check(unseen(1, 0.9)));
  EXPECT_FALSE(plateau.check(unseen(2, 0.8)));
  EXPECT_FALSE(plateau.check(unseen(3, 0.81)));
  EXPECT_TRUE(plateau.check(unseen(4, 0.82)));
}

TEST(Stopping, PlateauCountsEvaluationsOnly) {
  Stopping s = stopping_of(
      R"({"epochs": 99, "plateau": {"patience": 2, "min_delta": 0.01, "monitor": "test"}})");
  EXPECT_FALSE(s.check(at(1, 0.9)));
  EXPECT_FALSE(s.check(at(2, 0.895)));
  StopInput without = at(3, 0);
  without.evaluated = false;
  EXPECT_FALSE(s.check(without));
  EXPECT_EQ(s.check(at(4, 0.894))->status, Status::completed);
}

}  // namespace
}  // namespace mf
