// How fast a case trains here, by a short run on a small look-alike (about 0.1 s): a rough guide,
// since large factors fall out of the caches.
#pragma once

#include <optional>
#include <string>

#include "harness/experiment/spec.hpp"

namespace mf {

struct Probe {
  std::optional<double> rate;              // ratings a second
  std::optional<std::string> why_skipped;  // what its case would end with
};

// A library may find out only when it starts that it cannot run here. One that is too slow for its
// timeout, or diverges on the data of the probe, may do neither on those of its case.
Probe probe(const Case& item);

}  // namespace mf
