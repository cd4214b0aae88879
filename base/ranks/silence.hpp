// Threads whose work another tells of: the ranks beside rank 0.
#pragma once

namespace mf {

// Messages of this thread go nowhere, nor has the timeline its ranges. A ThreadTeam's threads are
// as the one that starts them.
inline thread_local bool is_silent = false;

}  // namespace mf
