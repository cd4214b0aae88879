// The pieces of a layout by walks over its tasks, on the host: what gpu/device_layout.hpp makes on
// the device.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/ccd/gpu/pieces.hpp"

namespace mf::ccd::test {

// Puts the long tasks of each tile before the short ones, both in the order of memory; which slot a
// task has does not change.
inline void order_tasks(Layout& layout) {
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    std::stable_partition(layout.tasks.begin() + layout.tile_tasks[tile],
                          layout.tasks.begin() + layout.tile_tasks[tile + 1],
                          [](const Task& task) { return !is_short(task.units); });
  }
}

// Tasks [begin, end) in shares of their cost: the share of `part` of `whole` begins at at(part).
class SummedTasks {
 public:
  SummedTasks(const Layout& layout, std::int64_t begin, std::int64_t end) : begin_(begin) {
    sums_.push_back(0);
    for (std::int64_t t = begin; t < end; ++t) {
      sums_.push_back(sums_.back() + cost_of(layout.tasks[t].units));
    }
  }
  std::int64_t cost() const { return sums_.back(); }
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

// Of tasks in that order.
inline Pieces walk_pieces(const Layout& layout, std::int64_t blocks) {
  std::vector<SummedTasks> longs;
  std::vector<SummedTasks> shorts;
  std::vector<std::int64_t> costs = {0};  // of the tiles before
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    const std::int64_t begin = layout.tile_tasks[tile];
    const std::int64_t end = layout.tile_tasks[tile + 1];
    const std::int64_t middle =
        std::find_if(layout.tasks.begin() + begin, layout.tasks.begin() + end,
                     [](const Task& task) { return is_short(task.units); }) -
        layout.tasks.begin();
    longs.emplace_back(layout, begin, middle);
    shorts.emplace_back(layout, middle, end);
    costs.push_back(costs.back() + longs.back().cost() + shorts.back().cost());
  }
  Pieces out;
  for (std::int64_t block = 0; block < blocks; ++block) {
    out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
    const std::int64_t begin = block * costs.back() / blocks;
    const std::int64_t end = (block + 1) * costs.back() / blocks;
    for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
      const std::int64_t whole = costs[tile + 1] - costs[tile];
      const std::int64_t first = std::max<std::int64_t>(0, begin - costs[tile]);
      const std::int64_t last = std::min(whole, end - costs[tile]);
      if (first >= last) continue;
      const Piece piece = {longs[tile].at(first, whole), longs[tile].at(last, whole),
                           shorts[tile].at(first, whole), shorts[tile].at(last, whole), tile};
      if (piece.long_begin < piece.long_end || piece.short_begin < piece.short_end) {
        out.pieces.push_back(piece);
      }
    }
  }
  out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
  return out;
}

inline bool same(const Pieces& a, const Pieces& b) {
  const auto equal = [](const Piece& x, const Piece& y) {
    return x.long_begin == y.long_begin && x.long_end == y.long_end &&
           x.short_begin == y.short_begin && x.short_end == y.short_end && x.tile == y.tile;
  };
  return a.of_block == b.of_block &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(), equal);
}

}  // namespace mf::ccd::test
