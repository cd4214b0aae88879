// The algorithms for implicit feedback: each is described by its room.
#include <vector>

#include "algorithms/core/registry.hpp"
#include "algorithms/ials/blocks/device_settings.hpp"
#include "algorithms/ials/blocks/settings.hpp"
#include "algorithms/ials/cpu/settings.hpp"
#include "algorithms/ials/fused/settings.hpp"
#include "algorithms/ials/post/settings.hpp"

namespace mf::ials {
namespace {

std::vector<AlgorithmInfo> all_infos() {
  return {cpu_info(), pp_cpu_info(), ials_info(), ials_pp_info(), fused_info()};
}

const bool kRegistered = [] {
  for (AlgorithmInfo& info : all_infos()) register_info(std::move(info));
  return true;
}();

}  // namespace
}  // namespace mf::ials
