// Train, test and validation parts that come as files of their own, put together into one matrix.
#pragma once

#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct GivenPart {
  Part label = kTrain;
  std::string name;  // for messages
  Ratings ratings;   // canonical, over its own users and items
};

struct JoinedParts {
  Ratings ratings;
  AlignedVector<std::uint8_t> labels;  // nnz
};

// One matrix over the users and items of all parts. Throws Error(data) naming the pair, in original
// ids, that two parts have in common. `name` is for messages.
JoinedParts join_parts(const std::vector<GivenPart>& parts, int threads, const std::string& name);

}  // namespace mf
