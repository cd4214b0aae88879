// Cuts ratings into parts by a label each: a pass over the labels that counts, one over the ratings
// that copies.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/aligned.hpp"
#include "base/host/isa.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/ratings/unread_ratings.hpp"

namespace mf {

// Labels, one byte a rating, by blocks of kLabelBlock at most: in `scratch`, or in place.
inline constexpr std::int64_t kLabelBlock = 2048;
using LabelBlock = std::array<std::uint8_t, kLabelBlock>;
using LabelsOf =
    std::function<const std::uint8_t*(std::int64_t begin, std::int64_t end, LabelBlock& scratch)>;
using Labels = AlignedVector<std::uint8_t>;

// Labels of the ratings from `first` on, stored by the caller.
inline LabelsOf stored_labels(View<const std::uint8_t> labels, std::int64_t first = 0) {
  return [=](std::int64_t begin, std::int64_t, LabelBlock&) {
    return labels.data() + (begin - first);
  };
}

// How many of a block have this label.
std::int64_t count_label(const std::uint8_t* labels, std::int64_t count, std::uint8_t label);

// Copies the ratings of a block with this label one after another, and returns how many. Up to
// kKeptBehind entries behind them are overwritten.
inline constexpr std::int64_t kKeptBehind = 16;
std::int64_t keep_labelled(Isa isa, const std::uint8_t* labels, const std::int32_t* items,
                           const float* values, std::int64_t count, std::uint8_t label,
                           std::int32_t* kept_items, float* kept_values);

struct SelectedPart {
  Ratings ratings;                         // over the users, items and ids of all
  AlignedVector<std::uint8_t> item_rated;  // n flags: 1 for the items with a rating in this part
};

// The fate of the ratings that are cut.
enum class Originals {
  kept,
  // The caller has the only copy and drops it: its memory goes back to the system while the parts
  // grow, so that the peak is little above one copy. Users, items and values of `all` are undefined
  // afterwards; offsets and ids stay.
  consumed,
};

struct WantedPart {
  std::uint8_t label;
  UsersColumn users = UsersColumn::made;
};

// Rows [first, end) of a matrix.
struct RowRange {
  std::int64_t first, end;
};

// Part k, which has these ids, has the ratings of these rows with the label of wanted[k]; other
// labels are in no part. `unread`: the source of the columns of `all`, if they are not in memory.
// The result does not depend on the number of threads.
std::vector<SelectedPart> select_parts(const Ratings& all, RowRange rows, const SharedIds& ids,
                                       const LabelsOf& labels, View<const WantedPart> wanted,
                                       ThreadTeam& team, Originals originals = Originals::kept,
                                       UnreadRatings* unread = nullptr);

// Over these users and items.
Ratings no_ratings_of(const SharedIds& ids);

}  // namespace mf
