// R packed by rows or by columns, cut into pieces of whole rows: for a device that takes one piece
// after another.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "datasets/ratings/packed/rating_packer.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf {

// Consecutive rows. Their ratings are [first, first + count) of all, and [skip, skip + count) of
// the words that begin with a block.
struct PackedPiece {
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first = 0, count = 0;
  std::int64_t skip = 0;  // ratings of the rows before, in the first block
  const std::uint64_t* words = nullptr;
  std::int64_t n_words = 0;
};

struct PackedOrder {
  AlignedVector<std::int64_t> offsets;  // rows + 1
  std::shared_ptr<const PackedRatings> packed;
  std::vector<std::int64_t> cuts = {};  // first rows of the pieces, and the number of rows

  // Into pieces of at most `most` ratings; a longer row is a piece by itself.
  void cut(std::int64_t most);
  std::int64_t pieces() const { return std::ssize(cuts) - 1; }
  PackedPiece piece(std::int64_t number) const;
  std::int64_t longest_row() const;
};

// Uses the words of Ratings::packed() if there are any. `ratings` must then outlive the order.
PackedOrder pack_rows(const Ratings& ratings, ThreadTeam& team);
// Sorts as make_csc does, by all threads. Takes up to 16 bytes a rating beside the ratings: the
// users, unless they are made, and the memory of make_csc.
PackedOrder pack_columns(const Ratings& ratings, ThreadTeam& team);

}  // namespace mf
