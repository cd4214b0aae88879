// Implicit feedback: a pair with a value above 0 was observed, one with 0 was not, and no value is
// below. Counts and training see only observed pairs.
#pragma once

#include <cstdint>
#include <string>

#include "base/threads.hpp"
#include "datasets/split/split.hpp"

namespace mf {

// Leaves the observed pairs in all parts, over the same users and items, and counts the cold anew.
// Returns the number of pairs left out; if 0, `split` keeps its memory. Throws Error(data) that
// names the data set, if any part has values below 0 or nothing is left to train on.
std::int64_t keep_observed(Split& split, const std::string& name, ThreadTeam& team);

}  // namespace mf
