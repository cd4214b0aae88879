#include "algorithms/cumf_sgd/grid.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/rng.hpp"

namespace mf::cumf_sgd {
namespace {

constexpr std::uint64_t kBlockSalt = 0x77617665ULL;

// The part of each row: rows in order, cut where the ratings so far pass a multiple of nnz / parts.
std::vector<std::int32_t> equal_parts(View<const std::int64_t> counts, std::int64_t parts) {
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::int32_t> part(counts.size());
  __extension__ using Wide = __int128;
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < counts.size(); ++i) {
    const Wide place = total == 0 ? 0 : static_cast<Wide>(before) * parts / total;
    part[i] = static_cast<std::int32_t>(std::min<Wide>(place, parts - 1));
    before += counts[i];
  }
  return part;
}

std::vector<std::int64_t> user_counts(const Ratings& train) {
  const auto offsets = train.user_offsets();
  std::vector<std::int64_t> counts(train.n_users());
  for (std::int64_t u = 0; u < train.n_users(); ++u) counts[u] = offsets[u + 1] - offsets[u];
  return counts;
}

std::vector<std::int64_t> item_counts(const Ratings& train) {
  std::vector<std::int64_t> counts(train.n_items());
  for (const std::int32_t item : train.items()) ++counts[item];
  return counts;
}

// First rating of each band; users are in order, so that a band's ratings lie together.
std::vector<std::int64_t> band_begins(const Ratings& train, std::int64_t bands) {
  const auto band_of = equal_parts(user_counts(train), bands);
  std::vector<std::int64_t> begins(bands + 1, train.nnz());
  for (std::int64_t u = train.n_users(); u-- > 0;) begins[band_of[u]] = train.user_offsets()[u];
  begins[0] = 0;
  for (std::int64_t b = bands; b-- > 0;) begins[b] = std::min(begins[b], begins[b + 1]);
  return begins;
}

// Sorts the ratings of a band by column, at random within each.
void sort_band(const Ratings& train, const std::vector<std::int32_t>& column_of, std::int64_t band,
               std::int64_t begin, std::int64_t end, std::uint64_t seed, WavefrontGrid& grid) {
  std::vector<std::int64_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  Rng rng(seed ^ kBlockSalt, static_cast<std::uint64_t>(band));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);

  const auto column = [&](std::int64_t rating) { return column_of[train.items()[rating]]; };
  std::vector<std::int64_t> next(grid.columns + 1);
  for (const std::int64_t rating : order) ++next[column(rating) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::int64_t c = 0; c < grid.columns; ++c) {
    grid.offsets[band * grid.columns + c] = begin + next[c];
  }
  for (const std::int64_t rating : order) {
    const std::int64_t to = begin + next[column(rating)]++;
    grid.users[to] = train.users()[rating];
    grid.items[to] = train.items()[rating];
    grid.values[to] = train.values()[rating];
  }
}

}  // namespace

WavefrontGrid make_grid(const Ratings& train, std::int64_t bands, std::int64_t columns,
                        std::uint64_t seed, ThreadTeam& team) {
  WavefrontGrid grid;
  grid.bands = bands;
  grid.columns = columns;
  grid.offsets.assign(bands * columns + 1, train.nnz());
  grid.users.resize(train.nnz());
  grid.items.resize(train.nnz());
  grid.values.resize(train.nnz());
  const auto begins = band_begins(train, bands);
  const auto column_of = equal_parts(item_counts(train), columns);
  team.for_chunks(bands, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t band = first; band < last; ++band) {
      sort_band(train, column_of, band, begins[band], begins[band + 1], seed, grid);
    }
  });
  return grid;
}

}  // namespace mf::cumf_sgd
