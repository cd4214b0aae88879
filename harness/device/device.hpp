// The CUDA device, as far as the harness needs it; answers "none" in a build without CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mf {

class Communicator;

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

// The device of this process (use_device()), or nothing; `why` then says why not.
std::optional<DeviceInfo> find_device(std::string* why = nullptr);

// All that this process may use, in their order, as device_ids() has them.
std::vector<DeviceInfo> find_devices();

// For all devices that this process may use (CUDA_VISIBLE_DEVICES), in their order, an id that
// differs from all others and is the same in other processes. Empty: none, and `why` says why. Not
// before a process starts others as its copies: CUDA would not work in those.
std::vector<std::string> device_ids(std::string* why = nullptr);

// By its place in device_ids(): the device of this process, instead of the first. Before anything
// is done on one; called by the thread that works on it.
void use_device(int number);

// "2.28.9", by which several devices work on a case; empty: none, and `why` says why.
std::string nccl_version_text(std::string* why = nullptr);

// Begins to connect the devices of these ranks, which all call, and does not wait until they are.
// Throws Error, on all alike; RankFault.
void connect_devices(Communicator& ranks);
// Waits until they are. All of these ranks; throws Error(device), RankFault.
void await_devices(Communicator& ranks);

// Begin and end of a profiler's recording (cudaProfilerStart and -Stop); do nothing without a
// profiler, a device or CUDA.
void start_profiler();
void stop_profiler();

}  // namespace mf
