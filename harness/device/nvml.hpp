// What the driver's management library (NVML) knows about a device. It is loaded when asked for, so
// nothing needs it to build or to run: where it is missing, its answers are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mf {

class Nvml {
 public:
  virtual ~Nvml() = default;
  virtual std::optional<std::string> driver_version() = 0;  // "580.95.05"
  virtual std::optional<double> power_limit_w() = 0;        // the enforced one
  virtual std::optional<std::int64_t> sm_clock_hz() = 0;    // at this moment
};

// Null where the library cannot be loaded or does not know the device. `pci_bus_id` is
// "0000:3B:00.0", because NVML and CUDA number devices differently.
std::unique_ptr<Nvml> open_nvml(const std::string& pci_bus_id,
                                const std::string& library = "libnvidia-ml.so.1");

}  // namespace mf
