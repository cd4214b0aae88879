// A schedule, or a learning rate, that an algorithm without one is given.
#pragma once

#include <string>
#include <vector>

#include "harness/spec/idle_keys.hpp"

namespace mf {

// A warning for each "learning_rate" and "schedule" of an entry whose algorithm has no learning
// rate, and for the spec's own where nobody who takes it has one. One that others have use of is
// no mistake beside them, unless it sweeps: then the cases of this algorithm are multiplied.
std::vector<std::string> idle_schedules(const std::vector<GivenParams>& cases);

}  // namespace mf
