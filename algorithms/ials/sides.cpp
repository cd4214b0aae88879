#include "algorithms/ials/sides.hpp"

namespace mf::ials {
namespace {

constexpr std::int64_t kPairsPerChunk = 1 << 16;

void weigh(View<const float> from, AlignedVector<float>& to, const ImplicitLoss& loss,
           ThreadTeam& team) {
  team.for_chunks(from.size(), kPairsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      to[k] = pair_weight(from[k], loss.alpha);
    }
  });
}

void drop_zeros(Csc& columns) {
  std::int64_t to = 0;
  std::int64_t begin = 0;
  for (std::int64_t item = 0; item + 1 < std::ssize(columns.item_offsets); ++item) {
    const std::int64_t end = columns.item_offsets[item + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      if (columns.values[k] == 0) continue;
      columns.users[to] = columns.users[k];
      columns.values[to++] = columns.values[k];
    }
    columns.item_offsets[item + 1] = to;
    begin = end;
  }
  columns.users.resize(to);
  columns.values.resize(to);
}

}  // namespace

Sides::Sides(const Ratings& train, const ImplicitLoss& loss, ThreadTeam& team)
    : users_{train.user_offsets(), train.items(), train.values(), "user"} {
  const std::int64_t observed = count_observed(train, loss, team);
  columns_ = make_csc(train, team.size());
  if (observed < train.nnz()) {
    own_ = ObservedRows(train, observed);
    users_ = {own_.offsets, own_.items, own_.values, "user"};
    drop_zeros(columns_);
  }
  if (loss.alpha == 1) return;
  own_.values.resize(observed);
  weigh(users_.values, own_.values, loss, team);
  users_.values = own_.values;
  weigh(columns_.values, columns_.values, loss, team);
}

std::int64_t filled_rows(const als::Side& side) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < side.rows(); ++row) count += side.length(row) > 0 ? 1 : 0;
  return count;
}

AlignedVector<float> row_regs(const als::Side& side, std::int64_t others,
                              const ImplicitLoss& loss) {
  AlignedVector<float> regs(side.rows());
  for (std::int64_t row = 0; row < side.rows(); ++row) {
    regs[row] = static_cast<float>(loss.row_reg(side.length(row), others));
  }
  return regs;
}

}  // namespace mf::ials
