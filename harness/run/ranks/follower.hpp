// The other side of harness/run/ranks/case_ranks.hpp: a rank that does what rank 0 orders, and
// writes and prints nothing.
#pragma once

#include "harness/run/ranks/rank_world.hpp"

namespace mf {

// Until rank 0 dismisses it. Throws what ends the run: what happened here, or RankFault.
void follow_session(const Spec& spec, const RunOptions& options, RankWorld& world);

}  // namespace mf
