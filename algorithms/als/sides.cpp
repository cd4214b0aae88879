#include "algorithms/als/sides.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kRatingsPerChunk = 1 << 16;
constexpr std::int64_t kItemsPerChunk = 16;

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

void remove_center(Csc& columns, std::int32_t n_items, const Center& center, ThreadTeam& team) {
  team.for_chunks(n_items, kItemsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (auto item = static_cast<std::int32_t>(begin); item < end; ++item) {
      const std::int64_t last = columns.item_offsets[item + 1];
      for (std::int64_t k = columns.item_offsets[item]; k < last; ++k) {
        columns.values[k] = center.residual(columns.users[k], item, columns.values[k]);
      }
    }
  });
}

}  // namespace

Sides::Sides(const Ratings& train, CenterKind kind, double reg, ThreadTeam& team)
    : train_(&train),
      columns_(make_csc(train, team.size())),
      center_(make_center(kind, train, columns_, reg, team)) {
  if (kind == CenterKind::none) return;
  user_values_ = user_residuals(train, center_, team);
  remove_center(columns_, train.n_items(), center_, team);
}

Side Sides::users() const {
  const View<const float> own(user_values_);
  return {train_->user_offsets(), train_->items(), own.empty() ? train_->values() : own};
}

Side Sides::items() const { return {columns_.item_offsets, columns_.users, columns_.values}; }

}  // namespace mf::als
