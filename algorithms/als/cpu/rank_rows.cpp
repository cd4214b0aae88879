#include "algorithms/als/cpu/rank_rows.hpp"

#include "base/json.hpp"

namespace mf::als::cpu {
namespace {

std::int64_t ratings_of(const AlignedVector<std::int64_t>& offsets, RowRange rows) {
  return offsets[rows.end] - offsets[rows.begin];
}

}  // namespace

RankRows::RankRows(const Ratings& train, const Common& common, Solver solver, Communicator& ranks,
                   ThreadTeam& team)
    : ranks_(ranks),
      user_offsets_(train.user_offsets().begin(), train.user_offsets().end()),
      item_offsets_(column_offsets(train, team)),
      users_(cut_rows(user_offsets_, row_cost(common, solver), ranks.size())),
      items_(cut_rows(item_offsets_, row_cost(common, solver), ranks.size())) {}

Sides RankRows::sides(const Ratings& train, const Common& common, ThreadTeam& team) {
  const Share own = {rows_of(users_, ranks_.rank()), rows_of(items_, ranks_.rank())};
  const BiasExchange exchange = {
      [&](AlignedVector<float>& biases) { ranks_.all_gather(std::span<float>(biases), users_); },
      [&](AlignedVector<float>& biases) { ranks_.all_gather(std::span<float>(biases), items_); }};
  return {train, common.center, row_reg_of(common), team, own, exchange};
}

bool RankRows::share(bool done, FactorTable& table, const RowCuts& cuts, PhaseSink* phases) {
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
  return true;
}

Json RankRows::facts() const {
  const RowRange users = rows_of(users_, ranks_.rank());
  const RowRange items = rows_of(items_, ranks_.rank());
  return {{"own_users", users.size()},
          {"own_items", items.size()},
          {"own_ratings_by_user", ratings_of(user_offsets_, users)},
          {"own_ratings_by_item", ratings_of(item_offsets_, items)}};
}

}  // namespace mf::als::cpu
