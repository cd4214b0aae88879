// Assigns devices to processes if several processes work on several devices.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mf {

// The view of a rank: its machine, by number, and device_ids().
struct SeenDevices {
  int machine = 0;
  std::vector<std::string> ids;
};

// For each rank, by its place among its seen devices: the first device that no rank before it on
// the same machine has. Ranks that see the same devices have them in their order; a rank that its
// launcher limits to one device gets that. Empty if all are taken.
std::vector<std::optional<int>> assign_devices(const std::vector<SeenDevices>& ranks);

}  // namespace mf
