// The driver's management library (NVML). It is loaded when asked for, so it is not needed to build
// or to run: without it, its answers are missing. Any thread may ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/device_load.hpp"

namespace mf {

class Nvml {
 public:
  virtual ~Nvml() = default;
  virtual std::optional<std::string> driver_version() = 0;  // "580.95.05"
  virtual std::optional<double> power_limit_w() = 0;        // the enforced one
  // At this moment. The power may be a mean over the second before (from Ampere on).
  virtual std::optional<double> sm_clock_hz() = 0;
  virtual std::optional<double> power_w() = 0;
  virtual std::optional<double> temperature_c() = 0;
  // Since the driver was loaded. The counter moves in steps.
  virtual std::optional<double> energy_j() = 0;
  // Why the clock is not at its maximum: bits of kSlowdowns.
  virtual std::optional<std::uint64_t> slowdowns() = 0;
  // All processes that compute on the device, this one too if the driver knows its id: not in a
  // container with its own process ids. `since_us` begins the mean of sm_share, microseconds since
  // 1970.
  virtual std::optional<std::vector<DeviceProcess>> processes(std::uint64_t since_us) = 0;
};

// Null if the library cannot be loaded or does not know the device. `pci_bus_id` is "0000:3B:00.0",
// because NVML and CUDA number devices differently.
std::unique_ptr<Nvml> open_nvml(const std::string& pci_bus_id,
                                const std::string& library = "libnvidia-ml.so.1");

// Processes other than ours. If the driver does not know our id, the busiest one is taken for us;
// empty if it shows no process, not even us.
std::optional<std::vector<DeviceProcess>> others_of(
    const std::optional<std::vector<DeviceProcess>>& processes, std::int64_t own_pid);

}  // namespace mf
