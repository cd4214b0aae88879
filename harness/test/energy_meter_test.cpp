#include "harness/device/energy_meter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/run/ranks/case_ranks.hpp"
#include "testing/rank_threads.hpp"

namespace mf {
namespace {

// A device that takes 100 W, 500 W while it trains, and a clock that is moved by hand.
class EnergyMeterTest : public testing::Test {
 protected:
  EnergyMeter meter(double pace_s) {
    return EnergyMeter(
        [this]() -> std::optional<double> {
          ++readings;
          return joules;
        },
        pace_s, [this] { return now; });
  }
  void idle(double seconds) {
    now += seconds;
    joules += 100 * seconds;
  }
  void group(EnergyMeter& meter, double seconds) {
    meter.begin_group();
    now += seconds;
    joules += 500 * seconds;
    meter.end_group(seconds);
  }

  double now = 50, joules = 7e6;
  int readings = 0;
};

TEST_F(EnergyMeterTest, LongGroupsAreExact) {
  EnergyMeter meter = this->meter(0.25);
  idle(3);
  for (int i = 0; i < 4; ++i) {
    group(meter, 1);
    idle(1);
  }
  meter.finish();
  EXPECT_NEAR(*meter.joules(std::nullopt), 4 * 500, 1e-9);
}

// Three groups that follow each other, then an evaluation of a second: its power is not theirs.
TEST_F(EnergyMeterTest, LongEvaluationsAreReadBefore) {
  EnergyMeter meter = this->meter(0.25);
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 3; ++k) group(meter, 0.1);
    meter.pause();
    idle(1);
  }
  meter.finish();
  // 500 W in 3 s; with only the first the evaluation's share is not known.
  EXPECT_NEAR(*meter.joules(std::nullopt), 1500, 120);
  const double before = *meter.joules(std::nullopt);
  group(meter, 0.1);
  group(meter, 0.1);
  meter.pause();
  EXPECT_NEAR(*meter.joules(std::nullopt), before + 100, 1e-6);
}

// Each begins on a reading and ends before another is due; then comes an evaluation, the longest
// after the last.
TEST_F(EnergyMeterTest, AnEvaluationAfterAShortGroupIsNoTraining) {
  for (const double seconds : {0.06, 0.1, 0.2}) {
    EnergyMeter meter = this->meter(0.25);
    for (int i = 0; i < 10; ++i) {
      idle(i == 0 ? 3 : 0.5);
      group(meter, seconds);
    }
    idle(5);
    meter.finish();
    EXPECT_NEAR(*meter.joules(std::nullopt), 10 * seconds * 500, 1e-6) << seconds;
  }
}

TEST_F(EnergyMeterTest, GroupsTooShortForTheCounterShareTheTimeOfTheirEvaluations) {
  EnergyMeter meter = this->meter(0.25);
  for (int i = 0; i < 10; ++i) {
    group(meter, 0.01);
    idle(0.49);
  }
  meter.finish();
  // The last group ends with its reading; of the others a fiftieth of 108 W in 4.5 s.
  EXPECT_NEAR(*meter.joules(std::nullopt), 10 * 0.01 * 108, 2);
}

TEST_F(EnergyMeterTest, ShortGroupsShareTheTimeBetweenReadings) {
  EnergyMeter meter = this->meter(0.25);
  idle(3);
  for (int i = 0; i < 1000; ++i) {
    group(meter, 0.002);
    idle(0.002);
  }
  meter.finish();
  // 4 s, half of it training, at 300 W on average.
  EXPECT_NEAR(*meter.joules(std::nullopt), 600, 5);
  EXPECT_LE(readings, 4 / 0.25 + 3);
}

TEST_F(EnergyMeterTest, BetweenReadingsThePowerOfBeforeGoesOn) {
  EnergyMeter meter = this->meter(0.25);
  group(meter, 0.01);
  EXPECT_NEAR(*meter.joules(450.0), 4.5, 1e-9);  // the counter has not been read
  group(meter, 1);                               // all of it at 500 W
  EXPECT_NEAR(*meter.joules(450.0), 505, 1e-9);
  group(meter, 0.1);
  EXPECT_NEAR(*meter.joules(450.0), 555, 1e-9);
}

// The counter moves in steps: over some milliseconds it tells nothing, or a whole step.
TEST_F(EnergyMeterTest, TheEndOfAShortCaseIsNotRead) {
  for (const double seconds : {0.004, 0.09, 0.3}) {
    readings = 0;
    EnergyMeter meter = this->meter(0.25);
    idle(1);
    group(meter, seconds / 2);
    group(meter, seconds / 2);
    meter.finish();
    const bool is_short = seconds < 0.25;
    EXPECT_EQ(readings, is_short ? 1 : 2) << seconds;
    EXPECT_NEAR(*meter.joules(450.0), seconds * (is_short ? 450 : 500), 1e-6) << seconds;
  }
}

TEST_F(EnergyMeterTest, AnAnswerThatIsMissingIsNoCounterOfZero) {
  int asked = 0;
  EnergyMeter meter(
      [&]() -> std::optional<double> {
        return ++asked == 1 ? std::nullopt : std::optional<double>(joules);
      },
      0, [this] { return now; });
  for (int i = 0; i < 3; ++i) group(meter, 1);
  meter.finish();
  // The first group's counter is not known; the power of the others stands in for it.
  EXPECT_GE(*meter.joules(std::nullopt), 2 * 500 - 1e-9);
  EXPECT_LE(*meter.joules(std::nullopt), 3 * 500 + 1e-9);
}

TEST_F(EnergyMeterTest, SaysNothingWhereTheDriverDoesNot) {
  EnergyMeter meter({}, 0, [] { return 0.0; });
  meter.begin_group();
  meter.end_group(1);
  meter.finish();
  EXPECT_FALSE(meter.joules(300.0));
}

// Ranks, threads here, whose devices take 100 W, 200 W, ... for two seconds of epochs; the last
// device may not tell.
std::vector<RankJoules> joules_seen(int count, bool last_tells) {
  std::vector<RankJoules> seen(count);
  const auto errors = test::in_rank_threads(count, [&](Communicator& ranks) {
    double now = 10, counter = 5e6;
    const bool tells = last_tells || ranks.rank() + 1 < count;
    EnergyMeter::Read read;
    if (tells) read = [&] { return std::optional(counter); };
    EnergyMeter meter(std::move(read), 0, [&] { return now; });
    meter.begin_group();
    now += 2;
    counter += 2 * 100 * (ranks.rank() + 1);
    meter.end_group(2);
    seen[ranks.rank()] = joules_of_ranks(meter.joules(std::nullopt), ranks);
  });
  EXPECT_EQ(errors, std::vector<std::string>(count));
  return seen;
}

TEST(EnergyOfRanks, IsTheSumOfTheirDevices) {
  for (const RankJoules& joules : joules_seen(3, true)) {
    EXPECT_EQ(joules, (RankJoules{200, 400, 600}));
    EXPECT_EQ(total_joules(joules), 1200);
  }
}

TEST(EnergyOfRanks, IsNotKnownWhereOneOfThemIsNot) {
  for (const RankJoules& joules : joules_seen(3, false)) {
    EXPECT_EQ(joules, (RankJoules{200, 400, std::nullopt}));
    EXPECT_EQ(total_joules(joules), std::nullopt);
  }
}

}  // namespace
}  // namespace mf
