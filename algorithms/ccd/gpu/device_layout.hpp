// What a side of R streams, made on the device: the tiles, segments, tasks and pieces of layout.hpp
// and pieces.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/ccd/gpu/pieces.hpp"
#include "algorithms/ccd/layout.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::ccd {

struct DeviceLayout {
  LayoutRule rule;
  std::int64_t rows = 0;
  std::int64_t tiles = 0;
  std::int64_t tile_width = 0;
  std::int64_t units = 0;                        // of all segments
  cuda::DeviceBuffer<std::int64_t> segments;     // tiles x rows + 1: where each begins, in units
  cuda::DeviceBuffer<Task> tasks;                // tile by tile, its long ones first
  cuda::DeviceBuffer<std::uint32_t> slots;       // rows + 1: where those of a row begin
  std::vector<TileTasks> tile_tasks;             // of each tile
  cuda::DeviceBuffer<std::int64_t> cost_before;  // tasks + 1

  // Ratings and padding.
  std::int64_t size() const { return units * rule.unit; }
};

// Waits for the stream. Throws Error(unsupported) where there are more units than tasks can number.
DeviceLayout make_device_layout(const cuda::RatingsOfRows& rows, std::int64_t n_others,
                                const LayoutRule& rule, cudaStream_t stream);

// What blocks of threads do. Waits for the stream.
Pieces cut_pieces(const DeviceLayout& layout, std::int64_t blocks, cudaStream_t stream);

// The ratings in that order, size() numbers each: the index in the tile, tile_width in padding; the
// value, 0 in padding. Index is std::uint16_t or std::int32_t. Queued.
template <class Index>
void fill_layout(const DeviceLayout& layout, const cuda::RatingsOfRows& rows, Index* indices,
                 float* values, cudaStream_t stream);

// lambda of each row (Settings::shrink). Queued.
void fill_shrink(const std::int64_t* offsets, std::int64_t rows, double reg, bool by_ratings,
                 float* shrink, cudaStream_t stream);

}  // namespace mf::ccd
