#include "algorithms/ccd/gpu/pieces.hpp"

#include <algorithm>

namespace mf::ccd {
namespace {

// What a task costs beyond its ratings, in units of 4 of them: finding it, waiting for its first
// ratings, and adding its lanes.
constexpr std::int64_t kLongCost = 32;
constexpr std::int64_t kShortCost = 8;

bool is_short(const Task& task) { return task.units <= kShortUnits; }

std::int64_t cost_of(const Task& task) {
  return task.units + (is_short(task) ? kShortCost : kLongCost);
}

// Tasks [begin, end) in shares of their cost: the share of `part` of `whole` begins at at(part).
class Cut {
 public:
  Cut(const Layout& layout, std::int64_t begin, std::int64_t end) : begin_(begin) {
    sums_.push_back(0);
    for (std::int64_t t = begin; t < end; ++t) {
      sums_.push_back(sums_.back() + cost_of(layout.tasks[t]));
    }
  }
  std::int64_t cost() const { return sums_.back(); }
  // Grows with part, from `begin` at 0 to `end` at `whole`.
  std::int64_t at(std::int64_t part, std::int64_t whole) const {
    if (part >= whole) return begin_ + std::ssize(sums_) - 1;
    const double target =
        static_cast<double>(cost()) * static_cast<double>(part) / static_cast<double>(whole);
    return begin_ + (std::lower_bound(sums_.begin(), sums_.end(), target) - sums_.begin());
  }

 private:
  std::int64_t begin_;
  std::vector<std::int64_t> sums_;  // of the tasks before
};

}  // namespace

void order_tasks(Layout& layout) {
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    std::stable_partition(layout.tasks.begin() + layout.tile_tasks[tile],
                          layout.tasks.begin() + layout.tile_tasks[tile + 1],
                          [](const Task& task) { return !is_short(task); });
  }
}

Pieces cut_pieces(const Layout& layout, std::int64_t blocks) {
  std::vector<Cut> longs;
  std::vector<Cut> shorts;
  std::vector<std::int64_t> costs = {0};  // of the tiles before
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    const std::int64_t begin = layout.tile_tasks[tile];
    const std::int64_t end = layout.tile_tasks[tile + 1];
    const std::int64_t middle =
        std::find_if(layout.tasks.begin() + begin, layout.tasks.begin() + end, is_short) -
        layout.tasks.begin();
    longs.emplace_back(layout, begin, middle);
    shorts.emplace_back(layout, middle, end);
    costs.push_back(costs.back() + longs.back().cost() + shorts.back().cost());
  }
  Pieces out;
  std::int64_t tile = 0;
  for (std::int64_t block = 0; block < blocks; ++block) {
    out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
    const std::int64_t begin = block * costs.back() / blocks;
    const std::int64_t end = (block + 1) * costs.back() / blocks;
    for (; tile < layout.tiles; ++tile) {
      const std::int64_t whole = costs[tile + 1] - costs[tile];
      const std::int64_t first = std::max<std::int64_t>(0, begin - costs[tile]);
      const std::int64_t last = std::min(whole, end - costs[tile]);
      if (first < last) {
        const Piece piece = {longs[tile].at(first, whole), longs[tile].at(last, whole),
                             shorts[tile].at(first, whole), shorts[tile].at(last, whole), tile};
        if (piece.long_begin < piece.long_end || piece.short_begin < piece.short_end) {
          out.pieces.push_back(piece);
        }
      }
      if (costs[tile + 1] > end) break;  // the next block goes on with this tile
    }
  }
  out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
  return out;
}

}  // namespace mf::ccd
