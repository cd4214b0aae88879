// R as the passes of one side stream over it. Rows are the side's, `others` are the other side's.
// The others are cut into tiles so narrow that the data a pass gathers from one stay on the chip;
// the ratings lie tile by tile, in a tile row by row: a row's part of a tile is a segment. Segments
// begin and end on whole units of ratings, the rest of a unit is padding.
//
// A task is a segment or a part of one, and the smallest unit of summation. Tasks are cut only by
// the ratings, and the sums of a row are added in the order of its slots; so the result does not
// depend on who does which task when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf::ccd {

struct LayoutRule {
  std::int64_t widest;      // others in a tile, at most; below 65536
  std::int64_t unit;        // ratings
  std::int64_t task_units;  // of a task, at most
};

// Segments of fewer ratings than this, on average, are not worth their tiles: then there is one.
inline constexpr std::int64_t kLeastSegment = 32;
// The limit of a task's `begin`.
inline constexpr std::int64_t kMostUnits = (std::int64_t{1} << 32) - 1;

struct Task {
  std::uint32_t begin;  // in units
  std::uint32_t slot;   // of its sums
  std::int32_t row;
  std::int32_t units;
};

// The rows of a side, their others ascending: CSR, or CSC seen from the items.
struct SideRows {
  View<const std::int64_t> offsets;
  View<const std::int32_t> others;
  std::int64_t n_others = 0;

  std::int64_t rows() const { return offsets.size() - 1; }
  std::int64_t nnz() const { return others.size(); }
};

struct Layout {
  LayoutRule rule;
  SideRows from;  // borrowed: only fill needs it
  std::int64_t tiles = 0;
  std::int64_t tile_width = 0;           // others of a tile; the last one may have fewer
  AlignedVector<std::int64_t> segments;  // tiles x rows + 1: start of each, in units
  AlignedVector<Task> tasks;             // tile by tile, in a tile by row
  std::vector<std::int64_t> tile_tasks;  // tiles + 1: first task of each tile
  AlignedVector<std::uint32_t> slots;    // rows + 1: first slot of each row

  std::int64_t rows() const { return std::ssize(slots) - 1; }
  // Ratings and padding.
  std::int64_t size() const { return segments.back() * rule.unit; }
  // Indices in a tile fit 16 bits, and so does `tile_width`, the index of padding.
  bool narrow() const { return tile_width < 65536; }

  // out[i - begin], for i in [begin, end), is of(row, tile, source) for the rating `source` of
  // `from`, or `padding`.
  template <class T, class Of>
  void fill(std::int64_t begin, std::int64_t end, T* out, T padding, Of&& of) const {
    const std::int64_t unit = begin / rule.unit;
    auto segment = std::upper_bound(segments.begin(), segments.end(), unit) - segments.begin() - 1;
    for (std::int64_t at = begin; at < end; ++segment) {
      const std::int64_t tile = segment / rows();
      const std::int64_t row = segment % rows();
      const std::int64_t first = segments[segment] * rule.unit;
      const std::int64_t last = std::min(segments[segment + 1] * rule.unit, end);
      if (at >= last) continue;
      const std::int64_t source = source_of(tile, row);
      const std::int64_t ratings = first + source_of(tile + 1, row) - source;
      for (; at < std::min(ratings, last); ++at)
        *out++ = static_cast<T>(of(row, tile, source + (at - first)));
      for (; at < last; ++at) *out++ = padding;
    }
  }

  // The first rating of the row that is in this tile or a later one.
  std::int64_t source_of(std::int64_t tile, std::int64_t row) const;
};

// Borrows `from`.
Layout make_layout(const SideRows& from, const LayoutRule& rule, ThreadTeam& team);

// Throws the Error(unsupported) that gives the most units and their size in ratings.
[[noreturn]] void refuse_units(std::int64_t units, std::int64_t unit);

// Others of a tile.
std::int64_t tile_width(std::int64_t others, std::int64_t tiles);
// Tiles that make_layout would cut.
std::int64_t tile_count(std::int64_t rows, std::int64_t others, std::int64_t nnz,
                        std::int64_t widest);

}  // namespace mf::ccd
