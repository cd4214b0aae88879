// What an algorithm says of its memory before it allocates any (AlgorithmInfo::memory).
#pragma once

#include <functional>
#include <optional>

namespace mf {

// Bytes of device memory at the two times when it is most: they do not add up.
struct DeviceNeed {
  double prepare = 0;  // while it is prepared
  double trained = 0;  // from then on, beside what the evaluator has
};

// The same where R stays on the device for the cases that follow (Context::ratings).
struct BesideRatings {
  DeviceNeed need;       // without R by rows and by columns
  bool columns = false;  // it asks for R by columns
};

struct MemoryNeed {
  double host_bytes = 0;  // beyond the ratings and the initial factors
  DeviceNeed device;      // all of it; where it takes as much as there is, the least it works with
  std::optional<BesideRatings> beside_ratings = std::nullopt;  // nothing: as `device`, beside R
  // That libraries take for themselves on the device: must be free, is in no peak.
  double library_bytes = 0;
  // `device.trained` on a device of which so many bytes are free beforehand, where it takes the
  // more the more there is. Empty: it does not.
  std::function<double(double free_bytes)> trained_in = nullptr;
};

}  // namespace mf
