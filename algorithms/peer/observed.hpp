// What of implicit feedback a library gets.
#pragma once

#include <optional>

#include "datasets/ratings/ratings.hpp"

namespace mf::peer {

// The pairs of a value above 0: one of 0 was not observed (docs/spec.md), and a library that is
// given it takes it for one that was. Nothing where all pairs are such.
std::optional<Ratings> only_observed(const Ratings& train);

}  // namespace mf::peer
