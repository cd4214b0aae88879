#include "harness/device/device.hpp"

#include "base/error.hpp"
#include "harness/device/device_clock.hpp"

namespace mf {

bool built_with_cuda() { return false; }

std::optional<DeviceInfo> find_device(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA";
  return std::nullopt;
}

std::vector<DeviceInfo> find_devices() { return {}; }

std::vector<std::string> device_ids(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA";
  return {};
}
void use_device(int) {}
std::string nccl_version_text(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA";
  return "";
}
void connect_devices(Communicator&) {}
void await_devices(Communicator&) {}

void start_profiler() {}
void stop_profiler() {}

std::unique_ptr<DeviceClock> open_device() {
  fail(ErrorKind::unsupported, "this build has no CUDA");
}

}  // namespace mf
