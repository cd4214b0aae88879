#include "algorithms/ials/sides.hpp"

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::ials {
namespace {

constexpr std::int64_t kPairsPerChunk = 1 << 16;

void weigh(View<const float> from, AlignedVector<float>& to, const ImplicitLoss& loss,
           ThreadTeam& team) {
  team.for_each(from.size(), kPairsPerChunk,
                [&](std::int64_t k) { to[k] = pair_weight(from[k], loss.alpha); });
}

}  // namespace

Sides::Sides(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team)
    : users_{train.user_offsets(), train.items(), train.values(), "user"} {
  const std::int64_t observed = count_observed(train, loss, team);
  if (observed < train.nnz()) {
    own_ = ObservedRows(train, observed);
    users_ = {own_.offsets, own_.items, own_.values, "user"};
    columns_ = make_csc(own_.users, own_.items, own_.values, train.n_items(), team.size());
  } else {
    columns_ = make_csc(train, team.size());
  }
  if (loss.alpha != 1) {
    own_.values.resize(observed);
    weigh(users_.values, own_.values, loss, team);
    users_.values = own_.values;
    weigh(columns_.values, columns_.values, loss, team);
  }
  if (loss.popularity_exponent != 0) weigh_by_popularity(loss.popularity_exponent);
}

void Sides::weigh_by_popularity(double exponent) {
  const als::Side side = items();
  std::vector<std::int64_t> pairs(side.rows());
  for (std::int64_t i = 0; i < side.rows(); ++i) pairs[i] = side.length(i);
  const std::vector<double> weights = unobserved_weights(pairs, exponent);
  unobserved_.resize(side.rows());
  users_.unobserved = unobserved_;
  for (std::int64_t i = 0; i < side.rows(); ++i) {
    unobserved_[i] = static_cast<float>(weights[i]);
    for (auto k = side.offsets[i]; k < side.offsets[i + 1]; ++k) {
      columns_.values[k] /= unobserved_[i];
    }
  }
}

std::int64_t Sides::filled_rows() const {
  return count_filled(users_.offsets) + count_filled(columns_.item_offsets);
}

AlignedVector<float> row_regs(const als::Side& side, std::int64_t others, const ImplicitLoss& loss,
                              View<const float> unobserved) {
  AlignedVector<float> regs(side.rows());
  for (std::int64_t row = 0; row < side.rows(); ++row) {
    regs[row] = static_cast<float>(loss.row_reg(side.length(row), others));
    if (!unobserved.empty()) regs[row] /= unobserved[row];
  }
  return regs;
}

}  // namespace mf::ials
