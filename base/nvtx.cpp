#include "base/nvtx.hpp"

#ifdef MF_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

namespace mf {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("mfbench");
  return handle;
}

}  // namespace

bool built_with_nvtx() { return true; }

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
#else
namespace mf {

bool built_with_nvtx() { return false; }
void push_nvtx(const char*) {}
void pop_nvtx() {}

}  // namespace mf
#endif
