// The CUDA device, as far as the harness needs it; answers "none" in a build without CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mf {

struct DeviceInfo {
  std::string name;
  std::string cuda_driver;  // CUDA version the driver supports
  std::string runtime;      // CUDA version of this build
  std::string pci_bus_id;   // "0000:3B:00.0"
  int compute_major = 0, compute_minor = 0;
  int compute() const { return 10 * compute_major + compute_minor; }
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;
  std::int64_t clock_hz = 0;  // SM clock at its nominal maximum
};

// "8.0" for 80, the number that AlgorithmInfo::min_compute has.
inline std::string format_compute(int compute) {
  return std::to_string(compute / 10) + "." + std::to_string(compute % 10);
}

bool built_with_cuda();

// The first device, or nothing; `why` then says why not.
std::optional<DeviceInfo> find_device(std::string* why = nullptr);

// Begin and end of what a profiler records (cudaProfilerStart and -Stop); nothing where there is no
// profiler, no device or no CUDA.
void start_profiler();
void stop_profiler();

}  // namespace mf
