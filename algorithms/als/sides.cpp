#include "algorithms/als/sides.hpp"

#include <algorithm>

namespace mf::als {
namespace {

constexpr std::int64_t kRatingsPerChunk = 1 << 16;
constexpr std::int64_t kItemsPerChunk = 16;
constexpr std::int64_t kUsersPerChunk = 256;

AlignedVector<float> user_residuals(const Ratings& train, const Center& center, ThreadTeam& team) {
  AlignedVector<float> values(train.nnz());
  team.for_chunks(train.nnz(), kRatingsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const Rating rating = train[k];
      values[k] = center.residual(rating.user, rating.item, rating.value);
    }
  });
  return values;
}

void remove_center(const Side& columns, View<float> values, const Center& center,
                   ThreadTeam& team) {
  team.for_chunks(columns.rows(), kItemsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto item = static_cast<std::int32_t>(begin); item < end; ++item) {
      const std::int64_t last = columns.offsets[item + 1];
      for (std::int64_t k = columns.offsets[item]; k < last; ++k) {
        values[k] = center.residual(columns.others[k], item, values[k]);
      }
    }
  });
}

Side view_of(const OwnRows& rows, const char* of) {
  return {rows.offsets, rows.others, rows.values, of};
}

void remove_center_of_rows(OwnRows& rows, const Center& center, ThreadTeam& team) {
  team.for_chunks(std::ssize(rows.offsets) - 1, kUsersPerChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (auto user = static_cast<std::int32_t>(begin); user < end; ++user) {
                      for (std::int64_t k = rows.offsets[user]; k < rows.offsets[user + 1]; ++k) {
                        rows.values[k] = center.residual(user, rows.others[k], rows.values[k]);
                      }
                    }
                  });
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
  user_values_ = user_residuals(train, center_, team);
  remove_center(items(), columns_.values, center_, team);
}

Sides::Sides(const RatingSlice& slice, CenterKind kind, RowReg reg, ThreadTeam& team,
             const RankCuts& cuts, const BiasExchange& exchange, Communicator& ranks)
    : own_items_(exchange_columns(slice, cuts.items, ranks, team)),
      own_users_(copy_rows(slice, cuts.users, ranks, team)) {
  const double mean = kind == CenterKind::none ? 0 : slice.mean;
  center_ = make_center(kind, mean, users(), items(), reg, team, exchange);
  if (kind == CenterKind::none) return;
  remove_center_of_rows(own_users_, center_, team);
  remove_center(items(), own_items_.values, center_, team);
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
