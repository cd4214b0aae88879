#include "harness/device/device_sampler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

constexpr std::chrono::milliseconds kQuick{1};

void wait_until(const std::function<bool()>& reached) {
  while (!reached()) std::this_thread::sleep_for(kQuick);
}

TEST(DeviceSampler, KeepsWhatItReadsWithinEpochsAndNothingElse) {
  std::atomic<int> asked = 0;
  DeviceSampler sampler([&] { return DeviceReading{1e9 + ++asked, {}, {}}; }, kQuick);
  std::this_thread::sleep_for(20 * kQuick);
  EXPECT_EQ(asked, 0) << "nothing is read before the epochs";
  {
    const SampledEpochs epochs(&sampler);
    wait_until([&] { return sampler.readings().size() >= 3; });
  }
  const std::size_t kept = sampler.readings().size();
  const int read = asked;
  std::this_thread::sleep_for(20 * kQuick);
  EXPECT_EQ(sampler.readings().size(), kept);
  EXPECT_LE(asked, read + 1) << "one may have been under way";
  EXPECT_EQ(sampler.readings().front().sm_clock_hz, 1e9 + 1);
}

TEST(DeviceSampler, DropsAReadingThatTheEpochsDidNotWaitFor) {
  std::atomic<bool> asked = false;
  std::atomic<bool> answered = false;
  const auto read = [&] {
    asked = true;
    wait_until([&] { return answered.load(); });
    return DeviceReading{1e9, {}, {}};
  };
  DeviceSampler sampler(read, kQuick);
  {
    const SampledEpochs epochs(&sampler);
    wait_until([&] { return asked.load(); });
  }  // ends while the driver has not answered
  sampler.begin_epochs();
  sampler.end_epochs();
  answered = true;
  std::this_thread::sleep_for(10 * kQuick);
  EXPECT_TRUE(sampler.readings().empty());
}

TEST(DeviceSampler, EndsWithItselfAtOnceAndAfterWhatWasThrownInAnEpoch) {
  const auto start = Clock::now();
  int asked = 0;
  {
    DeviceSampler sampler(
        [&] {
          return ++asked, DeviceReading{1e9, {}, {}};
        },
        std::chrono::hours(1));
    try {
      const SampledEpochs epochs(&sampler);
      fail(ErrorKind::device, "an epoch failed");
    } catch (const Error&) {
    }
  }
  EXPECT_LT(seconds_since(start), 60);
  EXPECT_EQ(asked, 0);
}

TEST(DeviceSampler, KeepsNothingWhereTheDriverHasNoAnswer) {
  std::atomic<int> asked = 0;
  DeviceSampler sampler([&] { return ++asked, DeviceReading{}; }, kQuick);
  const SampledEpochs epochs(&sampler);
  wait_until([&] { return asked >= 3; });
  EXPECT_TRUE(sampler.readings().empty());
}

}  // namespace
}  // namespace mf
