// Is a matrix of ratings what Ratings promises? For arrays that come from outside (a cache file):
// everything after this relies on it, down to indices that are not checked again.
#pragma once

#include <cstdint>
#include <string>

#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// Offsets from 0 to nnz that never fall, ids ascending; text ids are rows of names, which ascend.
// Throws Error(data) that begins with `name` and gives the position and the finding.
void check_heads(const Ratings& ratings, ThreadTeam& team, const std::string& name);
// The first wrong one of the ratings [begin, end), or `end`: users match their rows, items of a row
// ascend and are within n, values are finite. The heads must be right. Reads nothing before
// `begin`, which another thread may be checking: ascends() is for that.
std::int64_t first_wrong(const Ratings& ratings, std::int64_t begin, std::int64_t end);
// Whether rating `at` begins a row, or its item comes after the one before it.
bool ascends(const Ratings& ratings, std::int64_t at);
// Whether first_wrong() would give `end`, for items and values that lie elsewhere: `items` and
// `values` begin at rating `begin`.
bool are_sound(const Ratings& heads, const std::int32_t* items, const float* values,
               std::int64_t begin, std::int64_t end);
// Throws for the rating that first_wrong gave.
[[noreturn]] void fail_wrong(const Ratings& ratings, std::int64_t at, const std::string& name);

}  // namespace mf
