// The algorithms for implicit feedback: each is described by its room.
#include <vector>

#include "algorithms/core/registry.hpp"

namespace mf::ials {
namespace {

std::vector<AlgorithmInfo> all_infos() { return {}; }

const bool kRegistered = [] {
  for (AlgorithmInfo& info : all_infos()) register_info(std::move(info));
  return true;
}();

}  // namespace
}  // namespace mf::ials
