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
  std::vector<std::int64_t> counts(static_cast<std::size_t>(train.n_users()));
  for (std::size_t u = 0; u < counts.size(); ++u) counts[u] = offsets[u + 1] - offsets[u];
  return counts;
}

std::vector<std::int64_t> item_counts(const Ratings& train) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(train.n_items()));
  for (const std::int32_t item : train.items()) ++counts[static_cast<std::size_t>(item)];
  return counts;
}

// First rating of each band; users are in order, so that a band's ratings lie together.
std::vector<std::int64_t> band_begins(const Ratings& train, std::int64_t bands) {
  const auto band_of = equal_parts(user_counts(train), bands);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(bands) + 1, train.nnz());
  for (std::size_t u = band_of.size(); u-- > 0;) {
    begins[static_cast<std::size_t>(band_of[u])] = train.user_offsets()[u];
  }
  begins[0] = 0;
  for (std::size_t b = begins.size() - 1; b-- > 0;) begins[b] = std::min(begins[b], begins[b + 1]);
  return begins;
}

// Sorts the ratings of a band by column, at random within each.
void sort_band(const Ratings& train, const std::vector<std::int32_t>& column_of, std::int64_t band,
               std::int64_t begin, std::int64_t end, std::uint64_t seed, WavefrontGrid& grid) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(end - begin));
  std::iota(order.begin(), order.end(), begin);
  Rng rng(seed ^ kBlockSalt, static_cast<std::uint64_t>(band));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);

  const auto column = [&](std::int64_t rating) {
    const auto item = static_cast<std::size_t>(train.items()[static_cast<std::size_t>(rating)]);
    return static_cast<std::size_t>(column_of[item]);
  };
  std::vector<std::int64_t> next(static_cast<std::size_t>(grid.columns) + 1);
  for (const std::int64_t rating : order) ++next[column(rating) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t c = 0; c < static_cast<std::size_t>(grid.columns); ++c) {
    grid.offsets[static_cast<std::size_t>(band * grid.columns) + c] = begin + next[c];
  }
  for (const std::int64_t rating : order) {
    const auto from = static_cast<std::size_t>(rating);
    const auto to = static_cast<std::size_t>(begin + next[column(rating)]++);
    grid.users[to] = train.users()[from];
    grid.items[to] = train.items()[from];
    grid.values[to] = train.values()[from];
  }
}

}  // namespace

WavefrontGrid make_grid(const Ratings& train, std::int64_t bands, std::int64_t columns,
                        std::uint64_t seed, ThreadTeam& team) {
  WavefrontGrid grid;
  grid.bands = bands;
  grid.columns = columns;
  const auto nnz = static_cast<std::size_t>(train.nnz());
  grid.offsets.assign(static_cast<std::size_t>(bands * columns) + 1, train.nnz());
  grid.users.resize(nnz);
  grid.items.resize(nnz);
  grid.values.resize(nnz);
  const auto begins = band_begins(train, bands);
  const auto column_of = equal_parts(item_counts(train), columns);
  team.for_chunks(bands, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t band = first; band < last; ++band) {
      const auto b = static_cast<std::size_t>(band);
      sort_band(train, column_of, band, begins[b], begins[b + 1], seed, grid);
    }
  });
  return grid;
}

}  // namespace mf::cumf_sgd
