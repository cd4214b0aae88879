// `mfbench run --profile`: a few epochs between the calls that start and stop a profiler.
#pragma once

#include <cstdint>
#include <string>

#include "base/json/json.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {

struct ProfileWindow {
  std::int64_t warmup = 2;
  std::int64_t epochs = 3;

  Json to_json() const { return {{"warmup", warmup}, {"epochs", epochs}}; }
  std::string done() const;  // "profiled: 2 warm-up and 3 recorded epochs done"
};

// The case with the window as its only end, save for divergence, and evaluated only at the start
// and the end. Its id and hash stay.
Case profiled(Case item, const ProfileWindow& window);

}  // namespace mf
