// Ranks on one machine without MPI: pairs of connected sockets, made before the processes are. The
// system closes a process's ends however it ends, so that the others know at once.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/ranks/rank_links.hpp"

namespace mf {

// One a rank, for threads of this process: tests.
std::vector<std::shared_ptr<RankLinks>> make_local_links(int count);

// Starts count - 1 processes, copies of this one, which must have one thread; returns in each of
// them. This one is rank 0. The others end with it, and say nothing: their standard output and
// error go nowhere, and Ctrl-C is rank 0's to handle. Throws Error(memory) if the system has no
// room for them.
//
// `lost`, which must not return, is called by a thread of rank 0's process if another process ended
// without leave and rank 0, busy with other work, has not looked for `unheard_s`.
inline constexpr double kUnheardSeconds = 5;
std::shared_ptr<RankLinks> start_local_ranks(int count, std::function<void(const Fault&)> lost = {},
                                             double unheard_s = kUnheardSeconds);

// Standard input, output and error lead nowhere from now on.
void be_silent();

}  // namespace mf
