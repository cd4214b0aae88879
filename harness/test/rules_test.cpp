// Schedules and stopping rules against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "harness/spec/schedule.hpp"
#include "harness/spec/stopping.hpp"

namespace mf {
namespace {

Schedule schedule_of(const char* json) {
  return Schedule(parse_schedule(parse_json(json, "t"), "$.schedule"));
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
  Stopping s(parse_stop(parse_json(json, "t"), "$.stop"));
  s.start(1.0);
  return s;
}

StopInput at(std::int64_t epoch, double rmse, double train_s = 0, double wall_s = 0) {
  return {epoch, train_s, wall_s, true, rmse, rmse};
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

TEST(Stopping, ReachesTheTarget) {
  Stopping s = stopping_of(R"({"target_rmse": 0.5})");
  EXPECT_FALSE(s.check(at(1, 0.51)));
  const auto decision = s.check(at(2, 0.5));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->status, Status::completed);
  EXPECT_NE(decision->reason.find("target"), std::string::npos);
}

TEST(Stopping, DivergesOnNaNAndAboveTheStart) {
  Stopping s = stopping_of("{}");
  EXPECT_FALSE(s.check(at(1, 1.049)));
  EXPECT_EQ(s.check(at(2, 1.051))->status, Status::diverged);
  EXPECT_EQ(s.check(at(2, std::nan("")))->status, Status::diverged);
  EXPECT_EQ(s.check(at(2, std::numeric_limits<double>::infinity()))->status, Status::diverged);
  Stopping loose = stopping_of(R"({"divergence": 2})");
  EXPECT_FALSE(loose.check(at(1, 1.9)));
  EXPECT_EQ(loose.check(at(2, 2.1))->status, Status::diverged);
}

TEST(Stopping, PlateauCountsEvaluationsOnly) {
  Stopping s = stopping_of(R"({"epochs": 99, "plateau": {"patience": 2, "min_delta": 0.01}})");
  EXPECT_FALSE(s.check(at(1, 0.9)));
  EXPECT_FALSE(s.check(at(2, 0.895)));
  StopInput without = at(3, 0);
  without.evaluated = false;
  EXPECT_FALSE(s.check(without));
  EXPECT_EQ(s.check(at(4, 0.894))->status, Status::completed);
}

}  // namespace
}  // namespace mf
