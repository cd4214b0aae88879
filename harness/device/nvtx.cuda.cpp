#include <nvtx3/nvToolsExt.h>

#include "harness/device/device.hpp"

namespace mf {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("mfbench");
  return handle;
}

}  // namespace

void push_nvtx(const char* name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &event);
}

void pop_nvtx() { nvtxDomainRangePop(domain()); }

}  // namespace mf
