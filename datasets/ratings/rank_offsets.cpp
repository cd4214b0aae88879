// Ranks send the length of each row, in as few bytes as the longest needs: mostly one.
#include "datasets/ratings/rank_offsets.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "datasets/ratings/to_rank_0.hpp"

namespace mf {
namespace {

constexpr std::int64_t kRows = std::int64_t{1} << 16;  // that a thread takes at a time

std::int64_t longest_row(View<const std::int64_t> offsets, std::int64_t begin, std::int64_t end,
                         ThreadTeam& team) {
  std::atomic<std::int64_t> longest{0};
  team.for_chunks(end - begin, kRows, [&](std::int64_t first, std::int64_t last) {
    std::int64_t own = 0;
    for (std::int64_t row = begin + first; row < begin + last; ++row)
      own = std::max(own, offsets[row + 1] - offsets[row]);
    for (std::int64_t seen = longest; own > seen && !longest.compare_exchange_weak(seen, own);) {
    }
  });
  return longest;
}

template <class Length>
AlignedVector<std::int64_t> offsets_of(const AlignedVector<Length>& lengths, ThreadTeam& team) {
  const std::int64_t rows = std::ssize(lengths);
  std::vector<std::int64_t> begins(static_cast<std::size_t>((rows + kRows - 1) / kRows));
  team.for_chunks(rows, kRows, [&](std::int64_t first, std::int64_t last) {
    begins[static_cast<std::size_t>(first / kRows)] =
        std::accumulate(lengths.begin() + first, lengths.begin() + last, std::int64_t{0});
  });
  std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::int64_t{0});
  AlignedVector<std::int64_t> offsets(rows + 1);
  offsets[0] = 0;
  team.for_chunks(rows, kRows, [&](std::int64_t first, std::int64_t last) {
    std::int64_t at = begins[static_cast<std::size_t>(first / kRows)];
    for (std::int64_t row = first; row < last; ++row) offsets[row + 1] = at += lengths[row];
  });
  return offsets;
}

enum class To { all, rank_0 };

template <class Length>
AlignedVector<std::int64_t> gathered(View<const std::int64_t> own, const PartOffsets& rows,
                                     Communicator& ranks, ThreadTeam& team, To to) {
  AlignedVector<Length> lengths(rows.back());
  const std::int64_t begin = rows[ranks.rank()];
  team.for_chunks(rows[ranks.rank() + 1] - begin, kRows,
                  [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t row = begin + first; row < begin + last; ++row)
                      lengths[row] = static_cast<Length>(own[row + 1] - own[row]);
                  });
  if (to == To::all) {
    ranks.all_gather(std::span(lengths), rows);
  } else {
    to_rank_0([&](int rank) { return View(lengths).part(rows[rank], rows[rank + 1]); }, ranks);
  }
  return to == To::all || ranks.leads() ? offsets_of(lengths, team) : AlignedVector<std::int64_t>();
}

AlignedVector<std::int64_t> gathered(View<const std::int64_t> own, const PartOffsets& rows,
                                     Communicator& ranks, ThreadTeam& team, To to) {
  const std::int64_t longest =
      -ranks.all_min(-longest_row(own, rows[ranks.rank()], rows[ranks.rank() + 1], team));
  if (longest <= std::numeric_limits<std::uint8_t>::max())
    return gathered<std::uint8_t>(own, rows, ranks, team, to);
  if (longest <= std::numeric_limits<std::uint16_t>::max())
    return gathered<std::uint16_t>(own, rows, ranks, team, to);
  return gathered<std::int32_t>(own, rows, ranks, team, to);
}

}  // namespace

AlignedVector<std::int64_t> offsets_of_all(View<const std::int64_t> own, const PartOffsets& rows,
                                           Communicator& ranks, ThreadTeam& team) {
  return gathered(own, rows, ranks, team, To::all);
}

AlignedVector<std::int64_t> offsets_on_rank_0(View<const std::int64_t> own, const PartOffsets& rows,
                                              Communicator& ranks, ThreadTeam& team) {
  return gathered(own, rows, ranks, team, To::rank_0);
}

}  // namespace mf
