// Parts of an array go to rank 0.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ranks/communicator.hpp"

namespace mf {

// of(rank): the part of that rank as a View: its source on that rank, its target on rank 0. All
// ranks together.
template <class Of>
void to_rank_0(const Of& of, Communicator& ranks) {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const auto part = of(rank);
    const auto bytes = static_cast<std::int64_t>(part.size_bytes());
    if (bytes > 0 && rank == ranks.rank()) sends.push_back({0, part.data(), bytes});
    if (bytes > 0 && ranks.leads()) receives.push_back({rank, part.data(), bytes});
  }
  ranks.exchange(sends, receives);
}

}  // namespace mf
