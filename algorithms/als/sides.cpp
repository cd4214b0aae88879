#include "algorithms/als/sides.hpp"

#include <algorithm>

namespace mf::als {
namespace {

constexpr std::int64_t kRatingsPerChunk = 1 << 16;
constexpr std::int64_t kRowsPerChunk = 64;

// `values` may be the side's own.
void remove_center(const Side& side, bool of_users, const Center& center, View<float> values,
                   ThreadTeam& team) {
  team.for_chunks(side.rows(), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = static_cast<std::int32_t>(begin); row < end; ++row) {
      for (std::int64_t k = side.offsets[row]; k < side.offsets[row + 1]; ++k) {
        const std::int32_t other = side.others[k];
        values[k] = of_users ? center.residual(row, other, side.values[k])
                             : center.residual(other, row, side.values[k]);
      }
    }
  });
}

Side view_of(const OwnRows& rows, const char* of) {
  return {rows.offsets, rows.others, rows.values, of};
}

// The pieces one after another; rows keep their numbers.
OwnRows copy_rows(const RatingSlice& slice, const RowCuts& users, Communicator& ranks,
                  ThreadTeam& team) {
  const RowRange own = rows_of(users, ranks.rank());
  const RowPieces pieces = exchange_rows(slice, users, ranks);
  OwnRows rows;
  const std::int64_t first = slice.user_offsets[own.begin];
  rows.offsets.resize(std::ssize(slice.user_offsets));
  for (std::int64_t row = 0; row < std::ssize(rows.offsets); ++row)
    rows.offsets[row] = slice.user_offsets[std::clamp(row, own.begin, own.end)] - first;
  rows.others.resize(rows.offsets.back());
  rows.values.resize(rows.offsets.back());
  std::int64_t at = 0;
  for (const RowPieces::Piece& piece : pieces.pieces) {
    team.for_chunks(
        piece.items.size(), kRatingsPerChunk, [&](std::int64_t begin, std::int64_t end) {
          std::copy_n(piece.items.data() + begin, end - begin, rows.others.data() + at + begin);
          std::copy_n(piece.values.data() + begin, end - begin, rows.values.data() + at + begin);
        });
    at += piece.items.size();
  }
  return rows;
}

}  // namespace

Sides::Sides(const Ratings& train, CenterKind kind, RowReg reg, ThreadTeam& team)
    : train_(&train),
      columns_(make_csc(train, team.size())),
      center_(make_center(kind, train, columns_, reg, team)) {
  if (kind == CenterKind::none) return;
  user_values_.resize(train.nnz());
  remove_center({train.user_offsets(), train.items(), train.values()}, true, center_, user_values_,
                team);
  remove_center(items(), false, center_, columns_.values, team);
}

Sides::Sides(const RatingSlice& slice, CenterKind kind, RowReg reg, ThreadTeam& team,
             const RankCuts& cuts, Communicator& ranks)
    : own_items_(exchange_columns(slice, cuts.items, ranks, team)),
      own_users_(copy_rows(slice, cuts.users, ranks, team)) {
  const double mean = kind == CenterKind::none ? 0 : slice.mean;
  center_ = make_center(kind, mean, users(), items(), reg, team, &ranks, cuts);
  if (kind == CenterKind::none) return;
  remove_center(users(), true, center_, own_users_.values, team);
  remove_center(items(), false, center_, own_items_.values, team);
}

Side Sides::users() const {
  if (train_ == nullptr) return view_of(own_users_, "user");
  const View<const float> own(user_values_);
  return {train_->user_offsets(), train_->items(), own.empty() ? train_->values() : own, "user"};
}

Side Sides::items() const {
  if (train_ == nullptr) return view_of(own_items_, "item");
  return {columns_.item_offsets, columns_.users, columns_.values, "item"};
}

}  // namespace mf::als
