// The time left of a run, by a clock that the test turns.
#include "harness/run/show/run_time.hpp"

#include <gtest/gtest.h>

#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::spec_from;

class RunTimeTest : public ::testing::Test {
 protected:
  RunTimeTest() {
    for (const Case& item : spec_.cases) all_.push_back(&item);
    time_.begin_run(all_, {});
  }

  void begin(std::size_t index) { time_.begin_case(spec_.cases[index - 1], index, 4); }

  // A case of so many epochs of two seconds behind a second of preparation.
  void run(std::size_t index, int epochs) {
    begin(index);
    now_ += 1;
    for (int epoch = 0; epoch <= epochs; ++epoch) {
      now_ += epoch > 0 ? 2 : 0;
      time_.epoch(epoch, 2.0 * epoch);
    }
  }

  double now_ = 100;
  Spec spec_ = spec_from(R"({"name": "t", "datasets": [{"like": "ml-100k"}],
      "stop": {"epochs": 10}, "seeds": [1, 2],
      "algorithms": ["sgd_serial", "ruler"]})");
  std::vector<const Case*> all_;
  RunTime time_{[this] { return now_; }};
};

TEST_F(RunTimeTest, IsKnownFromTheFirstEpochOn) {
  EXPECT_EQ(time_.spent_s(), 0);
  run(1, 0);
  EXPECT_EQ(time_.left_s(), std::nullopt);
  now_ += 2;
  time_.epoch(1, 2);
  now_ += 2;
  time_.epoch(2, 4);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 16 + 3 * 21) << "no other has ended: each as this one";
  EXPECT_DOUBLE_EQ(time_.spent_s(), 5);
  EXPECT_DOUBLE_EQ(time_.share(), 0.2 / 4);
}

TEST_F(RunTimeTest, IsThatOfCasesOfTheSameAlgorithmWhereSomeHaveEnded) {
  run(1, 10);
  time_.end_case();
  EXPECT_DOUBLE_EQ(time_.share(), 0.25);
  begin(2);
  now_ += 1;
  EXPECT_DOUBLE_EQ(*time_.left_s(), 20 + 2 * 21) << "of another algorithm: as those before";
  now_ += 4;
  time_.end_case();
  begin(3);
  now_ += 3;
  EXPECT_DOUBLE_EQ(*time_.left_s(), 18 + 5) << "before an epoch: as the case of its algorithm";
  now_ += 4;
  time_.end_case();
  begin(4);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 5);
  now_ += 50;
  EXPECT_DOUBLE_EQ(*time_.left_s(), 0) << "longer than expected";
}

TEST_F(RunTimeTest, LimitsOfTimeCount) {
  spec_.cases[0].stop.epochs = 1'000'000;
  spec_.cases[0].stop.train_seconds = 8;
  time_.begin_run({&spec_.cases[0]}, {});
  run(1, 2);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 4) << "half of 8 s";
  spec_.cases[0].stop.wall_seconds = 6.25;
  run(1, 2);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 1) << "5 of 6.25 s";
  run(1, 9);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 0);
}

TEST_F(RunTimeTest, CasesThatStandTakeNoTime) {
  time_.begin_run({all_[0], all_[3]}, {});
  run(1, 10);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 21);
}

TEST_F(RunTimeTest, ACaseThatIsRunAgainTakesNoOtherFromThoseToCome) {
  time_.begin_run({all_[1]}, {});
  run(1, 10);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 21);
}

TEST_F(RunTimeTest, AProcessOfOneCaseKnowsWhatTheOthersTook) {
  time_.begin_run({all_[2], all_[3]}, {60, 2});
  begin(3);
  EXPECT_DOUBLE_EQ(time_.spent_s(), 60);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 2 * 30);
}

TEST_F(RunTimeTest, OfTrialsTheirNumberCounts) {
  Case trial = spec_.cases[0];
  trial.trial = {{"number", 1}};
  time_.begin_case(trial, 1, 6);
  now_ += 2;
  time_.end_case();
  time_.begin_case(trial, 2, 6);
  EXPECT_DOUBLE_EQ(*time_.left_s(), 2 + 4 * 2);
}

}  // namespace
}  // namespace mf
