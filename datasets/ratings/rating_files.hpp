// Internal: the matrix of ratings that come from several files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// Lines of a file that has a rating a line, from 1, the last included.
struct LineRange {
  std::int64_t first = 1;
  std::int64_t last = 0;
};

struct RatingFiles {
  std::vector<std::string> names;  // for messages
  AlignedVector<std::uint8_t> of;  // nnz: the number of each rating's file; none: there is only one
};

// make_ratings (ratings.hpp) of the ratings of all files, one file after the other; files.of is
// sorted with them. The policy is for pairs that a file has more than once: throws Error(data) that
// names a pair of two files, in original ids, and both files.
Ratings make_ratings(RawRatings raw, RatingFiles& files, DuplicatePolicy policy, int threads,
                     const std::string& name, DuplicateReport* report);

}  // namespace mf
