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
