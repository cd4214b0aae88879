// The clock of the device itself: marks around work of known length, memory, SM clock.
#include <gtest/gtest.h>

#include <cstdint>

#include "harness/device/device.hpp"
#include "harness/device/device_clock.hpp"
#include "harness/device/nvml.hpp"
#include "harness/test/kernels.hpp"
#include "testing/cuda/testing.hpp"

namespace mf {
namespace {

void queue_spin(DeviceClock& clock, double seconds) {
  launch_spin(static_cast<std::uint64_t>(seconds * 1e9), static_cast<cudaStream_t>(clock.stream()));
}

TEST(DeviceClock, SeesTheClockAndTheMemory) {
  const auto clock = open_device();
  const auto device = find_device();
  EXPECT_GT(clock->free_bytes(), 0);
  EXPECT_LE(clock->free_bytes(), device->memory_bytes);
  EXPECT_EQ(device->pci_bus_id.size(), 12u) << device->pci_bus_id;
  const auto nvml = open_nvml(device->pci_bus_id);
  if (!nvml) GTEST_SKIP() << "no NVML";
  EXPECT_GT(nvml->power_limit_w().value_or(0), 10);
  EXPECT_NE(nvml->driver_version().value_or("").find('.'), std::string::npos);
  const DeviceReading reading = clock->reading();
  EXPECT_TRUE(clock->tells().readings);
  EXPECT_EQ(clock->tells().energy, clock->energy_j().has_value());
  ASSERT_TRUE(reading.sm_clock_hz && reading.power_w && reading.temperature_c);
  EXPECT_GT(*reading.sm_clock_hz, 50e6);
  EXPECT_LE(*reading.sm_clock_hz, static_cast<double>(device->clock_hz));
  EXPECT_GT(*reading.power_w, 5);
  EXPECT_LT(*reading.power_w, 1.2 * *nvml->power_limit_w());
  EXPECT_GT(*reading.temperature_c, 5);
  EXPECT_LT(*reading.temperature_c, 120);
}

// A second of work takes at least an idle device's energy, and no more than 1.2 times the limit.
TEST(DeviceClock, CountsTheEnergyOfWork) {
  const auto clock = open_device();
  const auto nvml = open_nvml(find_device()->pci_bus_id);
  if (!nvml || !clock->energy_j()) GTEST_SKIP() << "no counter of energy";
  queue_spin(*clock, 0.2);
  clock->synchronize();
  const double before = *clock->energy_j();
  queue_spin(*clock, 1);
  clock->synchronize();
  const double joules = *clock->energy_j() - before;
  EXPECT_GT(joules, 10);
  EXPECT_LT(joules, 1.2 * *nvml->power_limit_w());
}

// Marks 0, 1, 2, ... with work of another known length between any two, and in every round: a mark
// of an earlier round, or one that is not on the stream, would be off by far more than 5 %.
TEST(DeviceClock, MarksMeasureAndAreReused) {
  constexpr std::int64_t kMarks = 10;
  const auto clock = open_device();
  queue_spin(*clock, 1e-6);  // loads the kernel
  clock->synchronize();
  for (int round = 0; round < 3; ++round) {
    const auto length = [&](std::int64_t i) {
      return 2e-3 + 0.5e-3 * static_cast<double>(i) + 1e-3 * round;
    };
    clock->clear_marks(4);  // fewer than are needed
    for (std::int64_t i = 0; i < kMarks; ++i) {
      if (i > 0) queue_spin(*clock, length(i));
      EXPECT_EQ(clock->mark(), i);
    }
    clock->synchronize();
    double sum = 0;
    for (std::int64_t i = 1; i < kMarks; ++i) {
      const double seconds = clock->seconds(i - 1, i);
      EXPECT_GE(seconds, 0.999 * length(i)) << round << " " << i;
      EXPECT_LE(seconds, 1.05 * length(i)) << round << " " << i;
      sum += seconds;
    }
    EXPECT_NEAR(clock->seconds(0, kMarks - 1), sum, 1e-5);
  }
}

}  // namespace
}  // namespace mf
