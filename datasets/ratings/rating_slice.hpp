// A matrix of ratings over ranks: each has the rows of consecutive users, and the offsets of all
// rows and columns. Loading leaves this on the ranks of a case; an algorithm takes from it the rows
// and the columns that each rank needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/ranks/communicator.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/dataset.hpp"

namespace mf {

struct RatingSlice {
  PartOffsets users;                         // rank r has the rows [users[r], users[r + 1])
  AlignedVector<std::int64_t> user_offsets;  // over the ratings of all ranks: n_users + 1
  AlignedVector<std::int64_t> item_offsets;  // likewise: n_items + 1
  double mean = 0;                           // of the values of all ranks
  // The ratings of the own rows, by user and item.
  View<const std::int32_t> own_items;
  View<const float> own_values;
  Ratings among;               // matrix that holds them
  std::int64_t first_own = 0;  // there
  View<const std::int32_t> own_users() const {
    return among.users().part(first_own, first_own + own_items.size());
  }

  std::int64_t nnz() const { return user_offsets.back(); }  // of all ranks
  // The offsets at which each rank's ratings begin, and the end of the last.
  PartOffsets rating_parts() const;
};

// For ratings that every rank has whole: views into `whole`, which must outlive it. Nothing is
// sent.
RatingSlice slice_of(const Ratings& whole, const Communicator& ranks, ThreadTeam& team);

// Throws on all ranks if one has another data set than rank 0. `name` is for messages.
void check_same_data(const std::string& name, const Dataset& data, Communicator& ranks);

// Cuts users into `parts` consecutive ranges of about as many ratings each. A row goes to the part
// in which it begins: no part is longer than its share and the longest row.
PartOffsets cut_users_evenly(View<const std::int64_t> user_offsets, int parts);

// Consecutive rows, in pieces that lie one after another in R: views into a slice and into data
// from other ranks. Valid as long as both live.
struct RowPieces {
  struct Piece {
    View<const std::int32_t> items;
    View<const float> values;
  };
  std::vector<Piece> pieces;
  std::vector<AlignedVector<std::int32_t>> received_items;
  std::vector<AlignedVector<float>> received_values;

  std::int64_t count() const;
};

// Each rank gets the rows [wanted[r], wanted[r + 1]). Rows that a rank has already are not copied.
// All ranks together; throws RankFault.
RowPieces exchange_rows(const RatingSlice& slice, const PartOffsets& wanted, Communicator& ranks);

// Rows with the offsets of all rows of R, in which other ranks' rows have no ratings: so rows keep
// their numbers.
struct OwnRows {
  AlignedVector<std::int64_t> offsets;
  AlignedVector<std::int32_t> others;
  AlignedVector<float> values;
};

// Each rank gets the rows of the users whose rank it is, wherever they lie.
OwnRows exchange_users(const RatingSlice& slice, const std::function<int(std::int32_t)>& rank_of,
                       Communicator& ranks);

// Each rank gets the columns [wanted[r], wanted[r + 1]), users ascending in each as in Csc.
OwnRows exchange_columns(const RatingSlice& slice, const PartOffsets& wanted, Communicator& ranks,
                         ThreadTeam& team);

}  // namespace mf
