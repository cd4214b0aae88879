#include "algorithms/ccd/gpu/pieces.hpp"

#include <algorithm>

namespace mf::ccd {
namespace {

// What a task costs beyond its ratings, in units of 4 of them: finding it, and adding its lanes.
constexpr std::int64_t kLongCost = 16;
constexpr std::int64_t kShortCost = 4;

bool is_short(const Task& task) { return task.units <= kShortUnits; }

std::int64_t cost_of(const Task& task) {
  return task.units + (is_short(task) ? kShortCost : kLongCost);
}

// Tasks [begin, end) of a tile whose short tasks begin at `shorts`.
Piece piece_of(std::int64_t tile, std::int64_t begin, std::int64_t end, std::int64_t shorts) {
  return {std::min(begin, shorts), std::min(end, shorts), std::max(begin, shorts),
          std::max(end, shorts), tile};
}

}  // namespace

void order_tasks(Layout& layout) {
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    std::stable_partition(layout.tasks.begin() + layout.tile_tasks[tile],
                          layout.tasks.begin() + layout.tile_tasks[tile + 1],
                          [](const Task& task) { return !is_short(task); });
  }
}

Pieces cut_pieces(const Layout& layout, std::int64_t blocks) {
  std::int64_t total = 0;
  for (const Task& task : layout.tasks) total += cost_of(task);
  Pieces out;
  out.of_block.push_back(0);
  std::int64_t cost = 0;   // of the tasks before `task`
  std::int64_t block = 0;  // the one that takes tasks
  const auto share_ends = [&] { return (block + 1) * total / blocks; };
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    const std::int64_t end = layout.tile_tasks[tile + 1];
    std::int64_t begin = layout.tile_tasks[tile];
    const std::int64_t shorts =
        std::find_if(layout.tasks.begin() + begin, layout.tasks.begin() + end, is_short) -
        layout.tasks.begin();
    for (std::int64_t task = begin; task < end; ++task) {
      cost += cost_of(layout.tasks[task]);
      if (cost < share_ends() && task + 1 < end) continue;
      out.pieces.push_back(piece_of(tile, begin, task + 1, shorts));
      begin = task + 1;
      while (block + 1 < blocks && cost >= share_ends()) {
        out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
        ++block;
      }
    }
  }
  while (block < blocks) {
    out.of_block.push_back(static_cast<std::int32_t>(out.pieces.size()));
    ++block;
  }
  return out;
}

}  // namespace mf::ccd
