#include "algorithms/ccd/layout.hpp"

#include "base/error.hpp"

namespace mf::ccd {
namespace {

constexpr std::int64_t kRowsPerChunk = 1024;

std::int64_t divide_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

// segments[s + 1] = units of segment s.
void count_units(Layout& layout, ThreadTeam& team) {
  const std::int64_t rows = layout.from.rows();
  layout.segments.resize(layout.tiles * rows + 1);
  layout.segments[0] = 0;
  team.for_each(rows, kRowsPerChunk, [&](std::int64_t row) {
    std::int64_t first = layout.from.offsets[row];
    for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
      const std::int64_t next = layout.source_of(tile + 1, row);
      layout.segments[tile * rows + row + 1] = divide_up(next - first, layout.rule.unit);
      first = next;
    }
  });
}

// slots[row]: tasks of the rows before it.
void count_slots(Layout& layout, ThreadTeam& team) {
  const std::int64_t rows = layout.from.rows();
  layout.slots.resize(rows + 1);
  layout.slots[0] = 0;
  team.for_each(rows, kRowsPerChunk, [&](std::int64_t row) {
    std::int64_t count = 0;
    for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
      count += divide_up(layout.segments[tile * rows + row + 1], layout.rule.task_units);
    }
    layout.slots[row + 1] = static_cast<std::uint32_t>(count);
  });
  for (std::int64_t row = 0; row < rows; ++row) layout.slots[row + 1] += layout.slots[row];
}

void cut_tasks(Layout& layout) {
  const std::int64_t rows = layout.from.rows();
  AlignedVector<std::uint32_t> next = layout.slots;
  layout.tasks.resize(layout.slots[rows]);
  std::int64_t count = 0;
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    layout.tile_tasks.push_back(count);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t begin = layout.segments[tile * rows + row];
      const std::int64_t end = layout.segments[tile * rows + row + 1];
      while (begin < end) {
        const std::int64_t units = std::min(end - begin, layout.rule.task_units);
        layout.tasks[count++] = {static_cast<std::uint32_t>(begin), next[row]++,
                                 static_cast<std::int32_t>(row), static_cast<std::int32_t>(units)};
        begin += units;
      }
    }
  }
  layout.tile_tasks.push_back(count);
}

}  // namespace

std::int64_t Layout::source_of(std::int64_t tile, std::int64_t row) const {
  const std::int32_t* begin = from.others.data() + from.offsets[row];
  const std::int32_t* end = from.others.data() + from.offsets[row + 1];
  if (tile == 0) return from.offsets[row];
  if (tile == tiles) return from.offsets[row + 1];
  return std::lower_bound(begin, end, tile * tile_width) - from.others.data();
}

void refuse_units(std::int64_t units, std::int64_t unit) {
  fail(ErrorKind::unsupported, "ccd++: {} ratings with padding, at most {} fit", units * unit,
       kMostUnits * unit);
}

std::int64_t tile_width(std::int64_t others, std::int64_t tiles) {
  return divide_up(others, tiles);
}

std::int64_t tile_count(std::int64_t rows, std::int64_t others, std::int64_t nnz,
                        std::int64_t widest) {
  const std::int64_t tiles = std::max<std::int64_t>(1, divide_up(others, widest));
  return nnz / kLeastSegment >= rows * tiles ? tiles : 1;
}

Layout make_layout(const SideRows& from, const LayoutRule& rule, ThreadTeam& team) {
  Layout layout;
  layout.rule = rule;
  layout.from = from;
  layout.tiles = tile_count(from.rows(), from.n_others, from.nnz(), rule.widest);
  layout.tile_width = tile_width(from.n_others, layout.tiles);
  count_units(layout, team);
  count_slots(layout, team);
  for (std::int64_t s = 1; s < std::ssize(layout.segments); ++s) {
    layout.segments[s] += layout.segments[s - 1];
  }
  if (layout.segments.back() > kMostUnits) refuse_units(layout.segments.back(), rule.unit);
  // count_slots reads lengths, cut_tasks the starts of segments.
  cut_tasks(layout);
  return layout;
}

}  // namespace mf::ccd
