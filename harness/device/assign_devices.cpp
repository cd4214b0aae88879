#include "harness/device/assign_devices.hpp"

#include <set>
#include <utility>

namespace mf {

std::vector<std::optional<int>> assign_devices(const std::vector<SeenDevices>& ranks) {
  std::set<std::pair<int, std::string>> taken;
  std::vector<std::optional<int>> given(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [machine, ids] = ranks[rank];
    for (std::size_t at = 0; at < ids.size() && !given[rank]; ++at) {
      if (taken.emplace(machine, ids[at]).second) given[rank] = static_cast<int>(at);
    }
  }
  return given;
}

}  // namespace mf
