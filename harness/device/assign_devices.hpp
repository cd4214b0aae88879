// Which device is whose, where several processes work on several.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mf {

// What a rank finds: its machine, by number, and device_ids().
struct SeenDevices {
  int machine = 0;
  std::vector<std::string> ids;
};

// For each rank, by its place among what it has seen: the first device that no rank before it on
// the same machine has. Ranks that see the same devices have them in their order; those that a
// launcher lets see one each have that. Nothing where all are taken.
std::vector<std::optional<int>> assign_devices(const std::vector<SeenDevices>& ranks);

}  // namespace mf
