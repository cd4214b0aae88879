#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <fmt/core.h>

#include <array>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/cuda/ranks/nccl.hpp"
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

// `device` is the current one.
std::optional<DeviceInfo> current_device(int device, std::string* why) {
  cudaDeviceProp properties{};
  int driver = 0;
  int runtime = 0;
  int clock_khz = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  std::array<char, 32> bus_id{};
  for (const cudaError_t error :
       {cudaGetDeviceProperties(&properties, device), cudaDriverGetVersion(&driver),
        cudaRuntimeGetVersion(&runtime), cudaMemGetInfo(&free, &total),
        cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device),
        cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device)}) {
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

}  // namespace

bool built_with_cuda() { return true; }

std::optional<DeviceInfo> find_device(std::string* why) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    return nothing(why, error == cudaSuccess ? cudaErrorNoDevice : error);
  }
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) {
    return nothing(why, error);
  }
  return current_device(device, why);
}

std::vector<DeviceInfo> find_devices() {
  std::vector<DeviceInfo> found;
  int own = 0;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaGetDevice(&own) != cudaSuccess) return found;
  for (int device = 0; device < count; ++device) {
    if (cudaSetDevice(device) != cudaSuccess) continue;
    if (const auto info = current_device(device, nullptr)) found.push_back(*info);
  }
  cudaSetDevice(own);
  return found;
}

std::vector<std::string> device_ids(std::string* why) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    nothing(why, error == cudaSuccess ? cudaErrorNoDevice : error);
    return {};
  }
  std::vector<std::string> ids;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, device);
        error != cudaSuccess) {
      nothing(why, error);
      return {};
    }
    std::string id;
    for (const char byte : properties.uuid.bytes) {
      id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    ids.push_back(id);
  }
  return ids;
}

void use_device(int number) { MF_CUDA(cudaSetDevice(number)); }

std::string nccl_version_text(std::string* why) { return cuda::nccl_version(why); }

void connect_devices(Communicator& ranks) {
  static_cast<void>(cuda::DeviceCommunicator::of(ranks));
}

void await_devices(Communicator& ranks) { cuda::DeviceCommunicator::of(ranks).be_connected(); }

void start_profiler() { static_cast<void>(cudaProfilerStart()); }
void stop_profiler() { static_cast<void>(cudaProfilerStop()); }

}  // namespace mf
