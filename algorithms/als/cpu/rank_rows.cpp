#include "algorithms/als/cpu/rank_rows.hpp"

#include "base/json/json.hpp"

namespace mf::als::cpu {
namespace {

std::int64_t ratings_of(const AlignedVector<std::int64_t>& offsets, RowRange rows) {
  return offsets[rows.end] - offsets[rows.begin];
}

}  // namespace

RankRows::RankRows(const RatingSlice& slice, const Common& common, Solver solver,
                   Communicator& ranks)
    : ranks_(ranks),
      user_offsets_(slice.user_offsets),
      item_offsets_(slice.item_offsets),
      cuts_{cut_rows(user_offsets_, row_cost(common, solver), ranks.size()),
            cut_rows(item_offsets_, row_cost(common, solver), ranks.size())} {}

Sides RankRows::sides(const RatingSlice& slice, const Common& common, ThreadTeam& team) {
  const auto gather = [this](AlignedVector<float>& biases, const RowCuts& cuts) {
    ranks_.all_gather(std::span<float>(biases), cuts);
  };
  const BiasExchange exchange = {
      [&](AlignedVector<float>& biases) { gather(biases, cuts_.users); },
      [&](AlignedVector<float>& biases) { gather(biases, cuts_.items); }};
  return {slice, common.center, row_reg_of(common), team, cuts_, exchange, ranks_};
}

bool RankRows::share(bool done, FactorTable& table, std::span<float> biases, const RowCuts& cuts,
                     PhaseSink* phases) {
  bool all_done = false;
  {
    const PhaseScope scope(phases, "wait_ranks");
    all_done = ranks_.all_min(done ? 1 : 0) == 1;
  }
  if (!all_done) return false;
  const PhaseScope scope(phases, "exchange");
  PartOffsets floats;
  for (const std::int64_t row : cuts) floats.push_back(row * table.view().stride);
  ranks_.all_gather(table.all(), floats);
  if (!biases.empty()) ranks_.all_gather(biases, cuts);
  return true;
}

Json RankRows::facts() const {
  const RowRange users = rows_of(cuts_.users, ranks_.rank());
  const RowRange items = rows_of(cuts_.items, ranks_.rank());
  return {{"own_users", users.size()},
          {"own_items", items.size()},
          {"own_ratings_by_user", ratings_of(user_offsets_, users)},
          {"own_ratings_by_item", ratings_of(item_offsets_, items)}};
}

}  // namespace mf::als::cpu
