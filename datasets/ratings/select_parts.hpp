// Cuts ratings into parts by a label each: a pass over the labels that counts, one over the ratings
// that copies.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ids/label_source.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

struct SelectedPart {
  Ratings ratings;                         // over the users, items and ids of all
  AlignedVector<std::uint8_t> item_rated;  // n flags: 1 for the items with a rating in this part
};

// What becomes of the ratings that are cut.
enum class Originals {
  kept,
  // The caller has the only copy and drops it: its memory goes back to the system while the parts
  // grow, so that the peak is little above one copy. Users, items and values of `all` are undefined
  // afterwards; offsets and ids stay.
  consumed,
};

// Runs of whole rows, by which the work is cut.
struct RatingRuns {
  std::vector<std::int32_t> first_row;     // of each run; then the number of rows
  std::vector<std::int64_t> first_rating;  // of each run; then the number of ratings
  std::int64_t count() const { return std::ssize(first_row) - 1; }
};
RatingRuns rating_runs(const Ratings& all);
// Of the rows [first, end).
RatingRuns rating_runs(const Ratings& all, std::int64_t first, std::int64_t end);

// How many ratings of each run are labelled wanted[k]: entry k of the result.
using RunCounts = std::vector<std::vector<std::int64_t>>;
RunCounts count_parts(const LabelSource& labels, const RatingRuns& runs,
                      View<const std::uint8_t> wanted, ThreadTeam& team);

// Part k, which has these ids, has the ratings labelled wanted[k]; other labels are in no part.
// `runs` are those of `all` or of some of its rows: then the parts have no ratings in the others.
// `counts` are those of these labels. The result does not depend on the number of threads.
std::vector<SelectedPart> select_parts(const Ratings& all, const SharedIds& ids,
                                       const LabelSource& labels, const RatingRuns& runs,
                                       const RunCounts& counts, View<const std::uint8_t> wanted,
                                       ThreadTeam& team, Originals originals = Originals::kept);

// The same with a label for each rating in an array.
std::vector<SelectedPart> select_parts(const Ratings& all, const SharedIds& ids,
                                       View<const std::uint8_t> labels,
                                       View<const std::uint8_t> wanted, int threads,
                                       Originals originals = Originals::kept);

// Over these users and items.
Ratings no_ratings_of(const SharedIds& ids);

}  // namespace mf
