// Train, test and validation parts that come as files of their own, put together into one matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/ratings/dataset.hpp"
#include "datasets/ratings/rating_files.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct GivenPart {
  Part label = kTrain;
  std::string name;  // for messages
  RawRatings raw;    // without times
};

struct JoinedParts {
  Ratings ratings;
  AlignedVector<std::uint8_t> labels;  // nnz
};

// One matrix over the users and items of all parts, of which there are at most 256. The policy
// holds within a part. Throws Error(data) naming the pair, in original ids, that two parts have in
// common. `name` is for messages. It takes one byte a rating more than make_ratings(). With
// `test_lines`, there is one part, of which these are the test part.
JoinedParts join_parts(std::vector<GivenPart> parts, DuplicatePolicy policy, int threads,
                       const std::string& name, DuplicateReport* report = nullptr,
                       const std::optional<LineRange>& test_lines = {});

}  // namespace mf
