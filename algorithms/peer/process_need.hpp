// The memory of a library's process, as it was measured: so that a spec is planned, and a case
// refused, before the process starts.
#pragma once

#include "algorithms/core/foreign.hpp"
#include "algorithms/peer/libraries.hpp"

namespace mf::peer {

ProcessNeed process_need(const PeerLibrary& library, const PeerAlgorithm& algorithm,
                         const Params& params, const ProblemShape& shape);

// Whether a limit of its address space refuses nothing but memory: not of what reserves far more
// than it uses, as CUDA and Java do.
bool may_limit_addresses(const PeerLibrary& library, const Params& params);

}  // namespace mf::peer
