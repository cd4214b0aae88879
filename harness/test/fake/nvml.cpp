// Stands in for the driver's management library: the functions of NVML's C interface that mfbench
// uses, with answers that tests know. NVML_FAKE_ENERGY=no is a device without a counter.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
int device = 0;
unsigned long long millijoules = 1'000'000;
bool is_device(void* handle) { return handle == &device; }
}  // namespace

extern "C" {
int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  *handle = &device;
  return std::strcmp(id, "0000:3B:00.0") == 0 ? kSuccess : kNotFound;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.95.05");
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return is_device(handle) ? kSuccess : kNotFound;
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
  *milliwatts = 412'500;
  return is_device(handle) ? kSuccess : kNotFound;
}
int nvmlDeviceGetClockInfo(void* handle, int clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1980 : 0;
  return is_device(handle) ? kSuccess : kNotFound;
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 54 : 0;
  return is_device(handle) ? kSuccess : kNotFound;
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* total) {
  const char* energy = std::getenv("NVML_FAKE_ENERGY");
  if (energy != nullptr && std::strcmp(energy, "no") == 0) return kNotSupported;
  *total = millijoules += 2500;
  return is_device(handle) ? kSuccess : kNotFound;
}
}

// NVML_FAKE_PROCESSES are the ids of those on the device, each with as many megabytes; the third's
// are not available. For 200 there are samples, two since 1000 us.
namespace {
constexpr int kTooSmall = 7;
constexpr unsigned long long kNotAvailable = ~0ULL;
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned instances[2];
};
struct Sample {
  unsigned pid;
  unsigned long long at;
  unsigned sm, other[3];
};
constexpr Sample kSamples[] = {{200, 500, 90, {}}, {200, 1500, 20, {}}, {200, 2500, 40, {}}};
}  // namespace

extern "C" {
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* found) {
  if (!is_device(handle)) return kNotFound;
  const unsigned room = *count;
  *count = 0;
  const char* text = std::getenv("NVML_FAKE_PROCESSES");
  char* end = nullptr;
  for (const char* at = text; at != nullptr; at = end) {
    const auto pid = static_cast<unsigned>(std::strtoul(at, &end, 10));
    if (end == at) break;
    const unsigned k = (*count)++;
    if (k < room) found[k] = {pid, k == 2 ? kNotAvailable : pid * 1'000'000ULL, {}};
  }
  return *count > room ? kTooSmall : kSuccess;
}
int nvmlDeviceGetProcessUtilization(void* handle, Sample* found, unsigned* count,
                                    unsigned long long since) {
  const char* use = std::getenv("NVML_FAKE_USE");
  if (!is_device(handle) || (use != nullptr && std::strcmp(use, "no") == 0)) return kNotSupported;
  const unsigned room = found == nullptr ? 0 : *count;
  *count = 0;
  for (const Sample& sample : kSamples) {
    if (sample.at <= since) continue;
    const unsigned k = (*count)++;
    if (k < room) found[k] = sample;
  }
  if (*count == 0) return kNotFound;
  return *count > room ? kTooSmall : kSuccess;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* handle, unsigned long long* bits) {
  *bits = 0x24;
  return is_device(handle) ? kSuccess : kNotFound;
}
}
