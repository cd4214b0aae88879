#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <array>

#include "harness/device/device.hpp"

namespace mf {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::optional<DeviceInfo> nothing(std::string* why, cudaError_t error) {
  if (why != nullptr) *why = cudaGetErrorString(error);
  return std::nullopt;
}

}  // namespace

bool built_with_cuda() { return true; }

std::optional<DeviceInfo> find_device(std::string* why) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    return nothing(why, error == cudaSuccess ? cudaErrorNoDevice : error);
  }
  cudaDeviceProp properties{};
  int driver = 0;
  int runtime = 0;
  int clock_khz = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  std::array<char, 32> bus_id{};
  for (const cudaError_t error :
       {cudaGetDeviceProperties(&properties, 0), cudaDriverGetVersion(&driver),
        cudaRuntimeGetVersion(&runtime), cudaMemGetInfo(&free, &total),
        cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0),
        cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), 0)}) {
    if (error != cudaSuccess) return nothing(why, error);
  }
  DeviceInfo info;
  info.name = properties.name;
  info.cuda_driver = version_text(driver);
  info.runtime = version_text(runtime);
  info.pci_bus_id = bus_id.data();
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.memory_bytes = static_cast<std::int64_t>(total);
  info.free_bytes = static_cast<std::int64_t>(free);
  info.clock_hz = std::int64_t{clock_khz} * 1000;
  return info;
}

void start_profiler() { static_cast<void>(cudaProfilerStart()); }
void stop_profiler() { static_cast<void>(cudaProfilerStop()); }

}  // namespace mf
