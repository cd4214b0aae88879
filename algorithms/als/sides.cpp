#include "algorithms/als/sides.hpp"

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

void remove_center_of_rows(OwnedSide& rows, const Center& center, ThreadTeam& team) {
  team.for_chunks(rows.view().rows(), kUsersPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto user = static_cast<std::int32_t>(begin); user < end; ++user) {
      for (std::int64_t k = rows.offsets[user]; k < rows.offsets[user + 1]; ++k) {
        rows.values[k] = center.residual(user, rows.others[k], rows.values[k]);
      }
    }
  });
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

Sides::Sides(const Ratings& train, CenterKind kind, RowReg reg, ThreadTeam& team,
             const Share& share, const BiasExchange& exchange)
    : own_users_(copy_rows(train, share.users, team)),
      own_items_(copy_columns(train, share.items, team)) {
  const double mean = kind == CenterKind::none ? 0 : mean_rating(train, team);
  center_ = make_center(kind, mean, users(), items(), reg, team, exchange);
  if (kind == CenterKind::none) return;
  remove_center_of_rows(own_users_, center_, team);
  remove_center(items(), own_items_.values, center_, team);
}

Side Sides::users() const {
  if (train_ == nullptr) return own_users_.view();
  const View<const float> own(user_values_);
  return {train_->user_offsets(), train_->items(), own.empty() ? train_->values() : own};
}

Side Sides::items() const {
  if (train_ == nullptr) return own_items_.view();
  return {columns_.item_offsets, columns_.users, columns_.values};
}

}  // namespace mf::als
