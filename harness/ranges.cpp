#include "harness/ranges.hpp"

#ifdef MF_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace mf {
namespace {

#ifdef MF_HAVE_NVTX
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("mfbench");
  return handle;
}

void nvtx_push(const char* name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &event);
}

void nvtx_pop() { nvtxDomainRangePop(domain()); }
#else
void nvtx_push(const char*) {}
void nvtx_pop() {}
#endif

}  // namespace

void Ranges::begin(const char* name) {
  nvtx_push(name);
  if (observer_) observer_(name, true);
  open_.push_back({name, Clock::now()});
}

void Ranges::end() {
  const Open& range = open_.back();
  Total& total = totals_[range.name];
  total.seconds += seconds_since(range.start);
  ++total.count;
  nvtx_pop();
  if (observer_) observer_(range.name, false);
  open_.pop_back();
}

double Ranges::seconds(const std::string& name) const {
  const auto it = totals_.find(name);
  return it == totals_.end() ? 0 : it->second.seconds;
}

Json Ranges::to_json() const {
  Json json = Json::object();
  for (const auto& [name, total] : totals_) {
    json[name] = {{"seconds_s", total.seconds}, {"count", total.count}};
  }
  return json;
}

}  // namespace mf
