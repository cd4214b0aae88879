// A thread a segment counts its quads, prefix sums place them, and a warp a segment copies its
// ratings: 8 bytes of a rating read, 6 or 8 written. Then a bit marks each quad that begins a task,
// sums of the bits number the tasks, and a thread a row writes the row's.
#include "algorithms/ccd/gpu/device_layout.hpp"

#include <thrust/iterator/transform_iterator.h>

#include "algorithms/ccd/layout.hpp"
#include "algorithms/ccd/sweep.hpp"
#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "base/error.hpp"

namespace mf::ccd {
namespace {

constexpr int kThreads = 256;

__device__ std::int64_t thread_number() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

struct Shape {
  cuda::RatingsOfRows from;
  std::int64_t tiles, tile_width;

  // The first rating of the row that is in this tile or a later one.
  __device__ std::int64_t source_of(std::int64_t tile, std::int64_t row) const {
    std::int64_t low = from.offsets[row];
    std::int64_t high = from.offsets[row + 1];
    if (tile == 0) return low;
    if (tile == tiles) return high;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (from.ratings[middle].other < tile * tile_width) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

__global__ void __launch_bounds__(kThreads) segment_kernel(const Shape shape, std::int64_t* quads) {
  const std::int64_t s = thread_number();
  const std::int64_t rows = shape.from.rows;
  if (s > shape.tiles * rows) return;
  std::int64_t count = 0;
  if (s < shape.tiles * rows) {
    const std::int64_t tile = s / rows;
    const std::int64_t row = s % rows;
    count = shape.source_of(tile + 1, row) - shape.source_of(tile, row);
  }
  quads[s] = (count + kQuad - 1) / kQuad;
}

__global__ void __launch_bounds__(kThreads)
    tile_kernel(const std::int64_t* segments, std::int64_t rows, std::int64_t tiles,
                std::int64_t* begins) {
  const std::int64_t tile = thread_number();
  if (tile <= tiles) begins[tile] = segments[tile * rows];
}

__device__ void mark(std::uint32_t* heads, std::int64_t quad) {
  atomicOr(heads + quad / kWordQuads, 1U << (quad % kWordQuads));
}

__global__ void __launch_bounds__(kThreads)
    segment_head_kernel(const std::int64_t* segments, std::int64_t count, std::uint32_t* heads) {
  const std::int64_t s = thread_number();
  if (s < count && segments[s] < segments[s + 1]) mark(heads, segments[s]);
}

__global__ void __launch_bounds__(kThreads)
    range_head_kernel(const Piece* pieces, std::int64_t count, std::int64_t warps,
                      std::uint32_t* heads) {
  const std::int64_t thread = thread_number();
  if (thread >= count * warps) return;
  const Range range = part_of(pieces[thread / warps].quads, thread % warps, warps);
  if (range.begin < range.end) mark(heads, range.begin);
}

struct BitCount {
  __device__ std::uint32_t operator()(std::uint32_t word) const { return __popc(word); }
};

struct Numbering {
  const std::int64_t* segments;
  const std::uint32_t* heads;
  const std::uint32_t* before;
  std::int64_t rows, tiles;

  // Tasks that begin before the quad.
  __device__ std::uint32_t rank(std::int64_t quad) const {
    const std::int64_t word = quad / kWordQuads;
    return before[word] + __popc(heads[word] & ((1U << (quad % kWordQuads)) - 1));
  }
  // Calls task(number) for each task of the row.
  template <class Visit>
  __device__ void tasks_of(std::int64_t row, Visit&& visit) const {
    for (std::int64_t s = row; s < tiles * rows; s += rows) {
      const std::uint32_t end = rank(segments[s + 1]);
      for (std::uint32_t task = rank(segments[s]); task < end; ++task) visit(task);
    }
  }
};

__global__ void __launch_bounds__(kThreads) slot_kernel(const Numbering of, std::uint32_t* slots) {
  const std::int64_t row = thread_number();
  if (row > of.rows) return;
  std::uint32_t count = 0;
  if (row < of.rows) of.tasks_of(row, [&](std::uint32_t) { ++count; });
  slots[row] = count;
}

__global__ void __launch_bounds__(kThreads)
    task_kernel(const Numbering of, const std::uint32_t* slots, StreamTask* tasks) {
  const std::int64_t row = thread_number();
  if (row >= of.rows) return;
  std::uint32_t slot = slots[row];
  of.tasks_of(row, [&](std::uint32_t task) {
    tasks[task] = {static_cast<std::int32_t>(row), slot++};
  });
}

// A warp a segment.
template <class Index>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(const Shape shape, const std::int64_t* segments, Index* indices, float* values) {
  const std::int64_t rows = shape.from.rows;
  const std::int64_t warps = std::int64_t{gridDim.x} * (kThreads / 32);
  for (std::int64_t s = thread_number() / 32; s < shape.tiles * rows; s += warps) {
    const std::int64_t begin = segments[s] * kQuad;
    const std::int64_t size = segments[s + 1] * kQuad - begin;
    if (size == 0) continue;
    const std::int64_t tile = s / rows;
    const std::int64_t source = shape.source_of(tile, s % rows);
    const std::int64_t count = shape.source_of(tile + 1, s % rows) - source;
    for (std::int64_t i = threadIdx.x % 32; i < size; i += 32) {
      RowRating rating = {static_cast<std::int32_t>(shape.tile_width), 0.0F};  // padding
      if (i < count) {
        rating = shape.from.ratings[source + i];
        rating.other -= static_cast<std::int32_t>(tile * shape.tile_width);
      }
      indices[begin + i] = static_cast<Index>(rating.other);
      values[begin + i] = rating.value;
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    shrink_kernel(const std::int64_t* offsets, std::int64_t rows, double reg, bool by_ratings,
                  float* shrink) {
  const std::int64_t row = thread_number();
  if (row < rows) shrink[row] = row_shrink(reg, by_ratings, offsets[row + 1] - offsets[row]);
}

unsigned blocks_over(std::int64_t count) { return cuda::blocks_for(count, kThreads); }

void count_quads(DeviceLayout& layout, const Shape& shape, cudaStream_t stream) {
  const std::int64_t count = layout.tiles * layout.rows + 1;
  layout.segments = cuda::DeviceBuffer<std::int64_t>(count);
  std::int64_t* quads = layout.segments.data();
  segment_kernel<<<blocks_over(count), kThreads, 0, stream>>>(shape, quads);
  MF_CUDA_LAUNCHED("ccd++ segments");
  cuda::exclusive_sums(quads, quads, count, stream);
  cuda::StreamBuffer<std::int64_t> begins(layout.tiles + 1, stream);
  tile_kernel<<<blocks_over(layout.tiles + 1), kThreads, 0, stream>>>(quads, layout.rows,
                                                                      layout.tiles, begins.data());
  MF_CUDA_LAUNCHED("ccd++ tiles");
  layout.tile_begins.resize(layout.tiles + 1);
  cuda::download(View<std::int64_t>(layout.tile_begins), begins.data(), stream);
}

Shape shape_of(const DeviceLayout& layout, const cuda::RatingsOfRows& rows) {
  return {rows, layout.tiles, layout.tile_width};
}

}  // namespace

DeviceLayout make_device_layout(const cuda::RatingsOfRows& rows, std::int64_t n_others,
                                std::int64_t widest, cudaStream_t stream) {
  DeviceLayout layout;
  layout.rows = rows.rows;
  layout.tiles = tile_count(rows.rows, n_others, rows.nnz, widest);
  layout.tile_width = tile_width(n_others, layout.tiles);
  count_quads(layout, shape_of(layout, rows), stream);
  if (layout.quads() > kMostUnits) refuse_units(layout.quads(), kQuad);
  return layout;
}

StreamTasks make_stream_tasks(const DeviceLayout& layout, const cuda::DeviceBuffer<Piece>& pieces,
                              std::int64_t warps, cudaStream_t stream) {
  const std::int64_t words = (layout.quads() + kWordQuads - 1) / kWordQuads;
  const std::int64_t segments = layout.tiles * layout.rows;
  const auto ranges = static_cast<std::int64_t>(pieces.size()) * warps;
  StreamTasks made;
  made.heads = cuda::zeros<std::uint32_t>(words + 1, stream);
  made.before = cuda::DeviceBuffer<std::uint32_t>(words + 1);
  if (ranges > 0) {
    segment_head_kernel<<<blocks_over(segments), kThreads, 0, stream>>>(
        layout.segments.data(), segments, made.heads.data());
    MF_CUDA_LAUNCHED("ccd++ heads of segments");
    range_head_kernel<<<blocks_over(ranges), kThreads, 0, stream>>>(
        pieces.data(), static_cast<std::int64_t>(pieces.size()), warps, made.heads.data());
    MF_CUDA_LAUNCHED("ccd++ heads of ranges");
  }
  cuda::exclusive_sums(thrust::make_transform_iterator(made.heads.data(), BitCount{}),
                       made.before.data(), words + 1, stream);
  std::uint32_t count = 0;
  cuda::download(View<std::uint32_t>(&count, 1), made.before.data() + words, stream);

  const Numbering of = {layout.segments.data(), made.heads.data(), made.before.data(), layout.rows,
                        layout.tiles};
  made.slots = cuda::DeviceBuffer<std::uint32_t>(layout.rows + 1);
  slot_kernel<<<blocks_over(layout.rows + 1), kThreads, 0, stream>>>(of, made.slots.data());
  MF_CUDA_LAUNCHED("ccd++ slots");
  cuda::exclusive_sums(made.slots.data(), made.slots.data(), layout.rows + 1, stream);
  made.tasks = cuda::DeviceBuffer<StreamTask>(count);
  if (count == 0) return made;
  task_kernel<<<blocks_over(layout.rows), kThreads, 0, stream>>>(of, made.slots.data(),
                                                                 made.tasks.data());
  MF_CUDA_LAUNCHED("ccd++ tasks");
  return made;
}

template <class Index>
void fill_layout(const DeviceLayout& layout, const cuda::RatingsOfRows& rows, Index* indices,
                 float* values, cudaStream_t stream) {
  if (layout.quads() == 0) return;
  const unsigned blocks =
      cuda::blocks_for(layout.tiles * layout.rows, kThreads / 32, std::int64_t{1} << 20);
  fill_kernel<Index><<<blocks, kThreads, 0, stream>>>(shape_of(layout, rows),
                                                      layout.segments.data(), indices, values);
  MF_CUDA_LAUNCHED("ccd++ fill");
}

template void fill_layout(const DeviceLayout&, const cuda::RatingsOfRows&, std::uint16_t*, float*,
                          cudaStream_t);
template void fill_layout(const DeviceLayout&, const cuda::RatingsOfRows&, std::int32_t*, float*,
                          cudaStream_t);

void fill_shrink(const std::int64_t* offsets, std::int64_t rows, double reg, bool by_ratings,
                 float* shrink, cudaStream_t stream) {
  if (rows == 0) return;
  shrink_kernel<<<blocks_over(rows), kThreads, 0, stream>>>(offsets, rows, reg, by_ratings, shrink);
  MF_CUDA_LAUNCHED("ccd++ shrink");
}

}  // namespace mf::ccd
