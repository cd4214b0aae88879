#include "algorithms/als/sides.hpp"

namespace mf::als {
namespace {

constexpr std::int64_t kRatingsPerChunk = 1 << 16;
constexpr std::int64_t kItemsPerChunk = 16;

AlignedVector<float> user_residuals(const Ratings& train, const Center& center, ThreadTeam& team) {
  AlignedVector<float> values(static_cast<std::size_t>(train.nnz()));
  team.for_chunks(train.nnz(), kRatingsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const Rating rating = train[k];
      values[static_cast<std::size_t>(k)] = center.residual(rating.user, rating.item, rating.value);
    }
  });
  return values;
}

void remove_center(Csc& csc, std::int32_t n_items, const Center& center, ThreadTeam& team) {
  team.for_chunks(n_items, kItemsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const auto i = static_cast<std::size_t>(item);
      const auto last = static_cast<std::size_t>(csc.item_offsets[i + 1]);
      for (auto k = static_cast<std::size_t>(csc.item_offsets[i]); k < last; ++k) {
        csc.values[k] =
            center.residual(csc.users[k], static_cast<std::int32_t>(item), csc.values[k]);
      }
    }
  });
}

}  // namespace

Sides::Sides(const Ratings& train, const Center& center, ThreadTeam& team)
    : train_(&train), csc_(make_csc(train, team.size())) {
  if (center.kind == CenterKind::none) return;
  user_values_ = user_residuals(train, center, team);
  remove_center(csc_, train.n_items(), center, team);
}

Side Sides::users() const {
  const View<const float> own(user_values_);
  return {train_->user_offsets(), train_->items(), own.empty() ? train_->values() : own};
}

Side Sides::items() const { return {csc_.item_offsets, csc_.users, csc_.values}; }

}  // namespace mf::als
