#include "algorithms/core/streaming/packed_order.hpp"

#include <algorithm>
#include <utility>

#include "datasets/ratings/row_users.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {

void PackedOrder::cut(std::int64_t most) {
  const auto rows = cut_rows(View<const std::int64_t>(offsets), most);
  cuts.assign(rows.begin(), rows.end());
}

PackedPiece PackedOrder::piece(std::int64_t number) const {
  PackedPiece made;
  made.first_row = cuts[number];
  made.rows = cuts[number + 1] - made.first_row;
  made.first = offsets[made.first_row];
  made.count = offsets[made.first_row + made.rows] - made.first;
  made.skip = made.first % kPackedBlock;
  made.words = packed->words.data() + packed->form.words(made.first - made.skip);
  made.n_words = packed->form.words(made.skip + made.count);
  return made;
}

std::int64_t PackedOrder::longest_row() const {
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row + 1 < std::ssize(offsets); ++row)
    longest = std::max(longest, offsets[row + 1] - offsets[row]);
  return longest;
}

PackedOrder pack_rows(const Ratings& ratings, ThreadTeam& team) {
  const auto offsets = ratings.user_offsets();
  PackedOrder made{{offsets.begin(), offsets.end()}, {}};
  if (ratings.packed() != nullptr) {
    made.packed = {ratings.packed(), [](const PackedRatings*) {}};
  } else {
    made.packed = std::make_shared<const PackedRatings>(
        pack_ratings(ratings.items(), ratings.values(), ratings.n_items(), team));
  }
  return made;
}

PackedOrder pack_columns(const Ratings& ratings, ThreadTeam& team) {
  Csc columns;
  {
    // Not Ratings::users(), which would keep them.
    AlignedVector<std::int32_t> users(ratings.has_users() ? 0 : ratings.nnz());
    if (!ratings.has_users()) fill_row_users(ratings.user_offsets(), users, team);
    columns = make_csc(ratings.has_users() ? ratings.users() : View<const std::int32_t>(users),
                       ratings.items(), ratings.values(), ratings.n_items(), team.size());
  }
  return {std::move(columns.item_offsets),
          std::make_shared<const PackedRatings>(
              pack_ratings(View<const std::int32_t>(columns.users),
                           View<const float>(columns.values), ratings.n_users(), team))};
}

}  // namespace mf
