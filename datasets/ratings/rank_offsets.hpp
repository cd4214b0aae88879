// Offsets of all rows over the ratings of all ranks, each of which has counted its own rows.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "base/ranks/communicator.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

// rows + 1 offsets, on all ranks. `own`: as many, of which only the rows [rows[rank], rows[rank +
// 1]) count. All ranks together.
AlignedVector<std::int64_t> offsets_of_all(View<const std::int64_t> own, const PartOffsets& rows,
                                           Communicator& ranks, ThreadTeam& team);

// The same on rank 0; empty on the others.
AlignedVector<std::int64_t> offsets_on_rank_0(View<const std::int64_t> own, const PartOffsets& rows,
                                              Communicator& ranks, ThreadTeam& team);

}  // namespace mf
