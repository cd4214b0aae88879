#include "harness/device.hpp"

#ifndef MF_HAVE_CUDA
namespace mf {

bool built_with_cuda() { return false; }

std::optional<DeviceInfo> find_device(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA";
  return std::nullopt;
}

}  // namespace mf
#endif
