// The stream of a side of R, made on the device: the tiles and segments of layout.hpp, and the
// tasks that the ranges of pieces.hpp cut them into.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "algorithms/ccd/gpu/pieces.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

namespace mf::ccd {

struct DeviceLayout {
  std::int64_t rows = 0;
  std::int64_t tiles = 0;
  std::int64_t tile_width = 0;
  cuda::DeviceBuffer<std::int64_t> segments;  // tiles x rows + 1: start of each, in quads
  std::vector<std::int64_t> tile_begins;      // tiles + 1: the first quad of each

  std::int64_t quads() const { return tile_begins.back(); }
  // Ratings and padding.
  std::int64_t size() const { return quads() * kQuad; }
};

// Tiles of at most `widest` others. Waits for the stream. Throws Error(unsupported) if the quads
// are too many to number.
DeviceLayout make_device_layout(const cuda::RatingsOfRows& rows, std::int64_t n_others,
                                std::int64_t widest, cudaStream_t stream);

struct StreamTasks {
  cuda::DeviceBuffer<std::uint32_t> heads;   // words + 1: a bit a quad that begins a task
  cuda::DeviceBuffer<std::uint32_t> before;  // words + 1: tasks that begin before the word
  cuda::DeviceBuffer<StreamTask> tasks;
  cuda::DeviceBuffer<std::uint32_t> slots;  // rows + 1: first slot of each row
};

// `warps` of each block share its pieces. Waits for the stream.
StreamTasks make_stream_tasks(const DeviceLayout& layout, const cuda::DeviceBuffer<Piece>& pieces,
                              std::int64_t warps, cudaStream_t stream);

// The ratings in their order, size() numbers each: the index in the tile, tile_width in padding;
// the value, 0 in padding. Index is std::uint16_t or std::int32_t. Queued.
template <class Index>
void fill_layout(const DeviceLayout& layout, const cuda::RatingsOfRows& rows, Index* indices,
                 float* values, cudaStream_t stream);

// lambda of each row (Settings::shrink). Queued.
void fill_shrink(const std::int64_t* offsets, std::int64_t rows, double reg, bool by_ratings,
                 float* shrink, cudaStream_t stream);

}  // namespace mf::ccd
