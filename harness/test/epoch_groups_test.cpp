#include "harness/run/epoch_groups.hpp"
#include "base/json/form.hpp"
#include "base/json/json.hpp"

#include <gtest/gtest.h>

namespace mf {
namespace {

TEST(EpochGroups, StartAtOneGrowEightfoldAndEndAtATenthOfASecond) {
  EXPECT_EQ(group_by_time({0, 0}), 1);
  EXPECT_EQ(group_by_time({1, 20e-6}), 8);
  EXPECT_EQ(group_by_time({8, 160e-6}), 64);
  EXPECT_EQ(group_by_time({4096, 0.08192}), 5000) << "0.1 s of 20 us";
  EXPECT_EQ(group_by_time({5000, 0.2}), 2500) << "the epochs have become slower";
  EXPECT_EQ(group_by_time({1, 0.06}), 1);
  EXPECT_EQ(group_by_time({1, 0.04}), 2);
  EXPECT_EQ(group_by_time({1, 30}), 1);
  EXPECT_EQ(group_by_time({3, 0}), 24) << "a clock that did not move";
}

TEST(EpochGroups, EndWhereTheEvaluationIs) {
  EXPECT_EQ(epochs_to_multiple(1, 1), 1);
  EXPECT_EQ(epochs_to_multiple(7, 1), 1);
  EXPECT_EQ(epochs_to_multiple(1, 100), 100);
  EXPECT_EQ(epochs_to_multiple(100, 100), 1);
  EXPECT_EQ(epochs_to_multiple(101, 100), 100);
  EXPECT_EQ(epochs_to_multiple(150, 100), 51);
  EXPECT_EQ(epochs_to_multiple(3, 1'000'000'000), 999'999'998);
}

TEST(EpochGroups, HaveOneRate) {
  const auto schedule = [](const char* json) {
    return Schedule(schedule_form().parse(Json::parse(json), "$"));
  };
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "constant"})"), 5, 1000), 1000);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "plateau"})"), 5, 1000), 1000);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "inverse_power"})"), 1, 1000), 1);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "exponential"})"), 5, 1000), 1);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "exponential", "decay": 1})"), 5, 1000), 1000);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "inverse_power", "beta": 0})"), 5, 9), 9);
  // 0.005 x 0^t: the first epoch has a rate, all others none.
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "exponential", "decay": 0})"), 1, 9), 1);
  EXPECT_EQ(epochs_at_one_rate(schedule(R"({"kind": "exponential", "decay": 0})"), 2, 9), 9);
}

}  // namespace
}  // namespace mf
