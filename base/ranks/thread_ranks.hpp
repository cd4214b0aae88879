// Ranks that are threads of one process: a transfer is a copy in its memory.
#pragma once

#include <memory>
#include <vector>

#include "base/ranks/rank_links.hpp"

namespace mf {

// By rank, one for each of `count` threads. A rank whose links are gone has ended: an operation
// with it throws RankFault. end_others() waits a little for the others to end. A thread cannot be
// killed, so if one still runs then, the process ends at once with the exit code.
std::vector<std::shared_ptr<RankLinks>> make_thread_links(int count);

}  // namespace mf
