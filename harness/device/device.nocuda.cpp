#include "harness/device/device.hpp"

#include "base/error.hpp"
#include "harness/device/device_clock.hpp"

namespace mf {

bool built_with_cuda() { return false; }

std::optional<DeviceInfo> find_device(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA";
  return std::nullopt;
}

void start_profiler() {}
void stop_profiler() {}

std::unique_ptr<DeviceClock> open_device() {
  fail(ErrorKind::unsupported, "this build has no CUDA");
}

}  // namespace mf
