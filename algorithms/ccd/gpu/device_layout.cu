// A thread a segment counts its units and tasks, sums say where they go, a thread a row numbers and
// writes its tasks, and a warp a segment copies its ratings: 8 bytes of a rating read, 6 or 8
// written. Of a segment 24 bytes, of a task 24.
#include "algorithms/ccd/gpu/device_layout.hpp"

#include "algorithms/ccd/shrink.hpp"
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
  LayoutRule rule;
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

// One element more than segments, whose sums are those of all.
struct Segments {
  std::int64_t* units;
  std::int64_t* longs;
  std::int64_t* shorts;
};

__global__ void __launch_bounds__(kThreads) segment_kernel(const Shape shape, const Segments to) {
  const std::int64_t s = thread_number();
  const std::int64_t rows = shape.from.rows;
  if (s > shape.tiles * rows) return;
  std::int64_t units = 0;
  if (s < shape.tiles * rows) {
    const std::int64_t tile = s / rows;
    const std::int64_t row = s % rows;
    const std::int64_t count = shape.source_of(tile + 1, row) - shape.source_of(tile, row);
    units = (count + shape.rule.unit - 1) / shape.rule.unit;
  }
  to.units[s] = units;
  to.longs[s] = long_tasks_of(units, shape.rule.task_units);
  to.shorts[s] = tasks_of(units, shape.rule.task_units) - to.longs[s];
}

// What follows reads sums.
__device__ std::int64_t tasks_of_segment(const Segments& of, std::int64_t s) {
  return of.longs[s + 1] - of.longs[s] + of.shorts[s + 1] - of.shorts[s];
}

__global__ void __launch_bounds__(kThreads)
    slot_kernel(const Shape shape, const Segments of, std::uint32_t* slots) {
  const std::int64_t row = thread_number();
  const std::int64_t rows = shape.from.rows;
  if (row > rows) return;
  std::int64_t count = 0;
  for (std::int64_t tile = 0; row < rows && tile < shape.tiles; ++tile) {
    count += tasks_of_segment(of, tile * rows + row);
  }
  slots[row] = static_cast<std::uint32_t>(count);
}

// Sums before the tiles: longs, then shorts.
__global__ void __launch_bounds__(kThreads)
    boundary_kernel(const Segments of, std::int64_t rows, std::int64_t tiles, std::int64_t* sums) {
  const std::int64_t tile = thread_number();
  if (tile > tiles) return;
  sums[tile] = of.longs[tile * rows];
  sums[tiles + 1 + tile] = of.shorts[tile * rows];
}

// The tasks of a tile begin where those of the ones before end; its long ones come first.
__global__ void __launch_bounds__(kThreads)
    task_kernel(const Shape shape, const Segments of, const std::uint32_t* slots, Task* tasks) {
  const std::int64_t row = thread_number();
  const std::int64_t rows = shape.from.rows;
  if (row >= rows) return;
  std::uint32_t slot = slots[row];
  for (std::int64_t tile = 0; tile < shape.tiles; ++tile) {
    const std::int64_t s = tile * rows + row;
    const std::int64_t longs = of.longs[s + 1] - of.longs[s];
    const std::int64_t count = tasks_of_segment(of, s);
    const std::int64_t first_long = of.longs[s] + of.shorts[tile * rows];
    const std::int64_t first_short = of.longs[(tile + 1) * rows] + of.shorts[s];
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t begin = of.units[s] + k * shape.rule.task_units;
      const std::int64_t units = min(of.units[s + 1] - begin, shape.rule.task_units);
      const std::int64_t at = k < longs ? first_long + k : first_short + k - longs;
      tasks[at] = {static_cast<std::uint32_t>(begin), slot++, static_cast<std::int32_t>(row),
                   static_cast<std::int32_t>(units)};
    }
  }
}

// One element more than tasks.
__global__ void __launch_bounds__(kThreads)
    cost_kernel(const Task* tasks, std::int64_t count, std::int64_t* costs) {
  const std::int64_t t = thread_number();
  if (t <= count) costs[t] = t < count ? cost_of(tasks[t].units) : 0;
}

__global__ void __launch_bounds__(kThreads)
    gather_kernel(const std::int64_t* from, const std::int64_t* places, std::int64_t count,
                  std::int64_t* to) {
  const std::int64_t i = thread_number();
  if (i < count) to[i] = from[places[i]];
}

__global__ void __launch_bounds__(kThreads)
    cut_kernel(const Cut* cuts, std::int64_t count, const std::int64_t* before, std::int64_t* to) {
  const std::int64_t i = thread_number();
  if (i < count) to[i] = cuts[i].at(before);
}

// A warp a segment.
template <class Index>
__global__ void __launch_bounds__(kThreads)
    fill_kernel(const Shape shape, const std::int64_t* segments, Index* indices, float* values) {
  const std::int64_t rows = shape.from.rows;
  const std::int64_t warps = std::int64_t{gridDim.x} * (kThreads / 32);
  for (std::int64_t s = thread_number() / 32; s < shape.tiles * rows; s += warps) {
    const std::int64_t begin = segments[s] * shape.rule.unit;
    const std::int64_t size = segments[s + 1] * shape.rule.unit - begin;
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

// numbers[places[i]], on the host.
std::vector<std::int64_t> gathered(const std::int64_t* numbers,
                                   const std::vector<std::int64_t>& places, cudaStream_t stream) {
  std::vector<std::int64_t> found(places.size());
  if (places.empty()) return found;
  const auto where = cuda::upload(View<const std::int64_t>(places), stream);
  cuda::StreamBuffer<std::int64_t> device(std::ssize(places), stream);
  gather_kernel<<<blocks_over(std::ssize(places)), kThreads, 0, stream>>>(
      numbers, where.data(), std::ssize(places), device.data());
  MF_CUDA_LAUNCHED("ccd++ gather");
  cuda::download(View<std::int64_t>(found), device.data(), stream);
  return found;
}

void number_tasks(DeviceLayout& layout, const Shape& shape, cudaStream_t stream) {
  const std::int64_t rows = layout.rows;
  const std::int64_t count = layout.tiles * rows + 1;
  layout.segments = cuda::DeviceBuffer<std::int64_t>(count);
  cuda::StreamBuffer<std::int64_t> longs(count, stream), shorts(count, stream);
  const Segments of = {layout.segments.data(), longs.data(), shorts.data()};
  segment_kernel<<<blocks_over(count), kThreads, 0, stream>>>(shape, of);
  MF_CUDA_LAUNCHED("ccd++ segments");
  for (std::int64_t* numbers : {of.units, of.longs, of.shorts}) {
    cuda::exclusive_sums(numbers, numbers, count, stream);
  }
  layout.slots = cuda::DeviceBuffer<std::uint32_t>(rows + 1);
  slot_kernel<<<blocks_over(rows + 1), kThreads, 0, stream>>>(shape, of, layout.slots.data());
  MF_CUDA_LAUNCHED("ccd++ slots");
  cuda::exclusive_sums(layout.slots.data(), layout.slots.data(), rows + 1, stream);

  const std::int64_t ends = layout.tiles + 1;
  cuda::StreamBuffer<std::int64_t> device(2 * ends, stream);
  boundary_kernel<<<blocks_over(ends), kThreads, 0, stream>>>(of, rows, layout.tiles,
                                                              device.data());
  MF_CUDA_LAUNCHED("ccd++ tiles");
  std::vector<std::int64_t> sums(2 * ends);
  cuda::download(View<std::int64_t>(sums), device.data(), stream);
  layout.units = gathered(of.units, {count - 1}, stream)[0];
  if (layout.units > kMostUnits) refuse_units(layout.units, layout.rule);
  for (std::int64_t tile = 0; tile < layout.tiles; ++tile) {
    TileTasks tasks;
    tasks.begin = sums[tile] + sums[ends + tile];
    tasks.middle = sums[tile + 1] + sums[ends + tile];
    tasks.end = sums[tile + 1] + sums[ends + tile + 1];
    layout.tile_tasks.push_back(tasks);
  }
  layout.tasks = cuda::DeviceBuffer<Task>(sums[ends - 1] + sums[2 * ends - 1]);
  if (layout.tasks.empty()) return;
  task_kernel<<<blocks_over(rows), kThreads, 0, stream>>>(shape, of, layout.slots.data(),
                                                          layout.tasks.data());
  MF_CUDA_LAUNCHED("ccd++ tasks");
}

void sum_costs(DeviceLayout& layout, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(layout.tasks.size());
  layout.cost_before = cuda::DeviceBuffer<std::int64_t>(count + 1);
  std::int64_t* costs = layout.cost_before.data();
  cost_kernel<<<blocks_over(count + 1), kThreads, 0, stream>>>(layout.tasks.data(), count, costs);
  MF_CUDA_LAUNCHED("ccd++ costs");
  cuda::exclusive_sums(costs, costs, count + 1, stream);
  std::vector<std::int64_t> places;
  for (const TileTasks& tile : layout.tile_tasks) {
    places.insert(places.end(), {tile.begin, tile.middle, tile.end});
  }
  const auto before = gathered(costs, places, stream);
  for (std::size_t t = 0; t < layout.tile_tasks.size(); ++t) {
    layout.tile_tasks[t].long_cost = before[3 * t + 1] - before[3 * t];
    layout.tile_tasks[t].short_cost = before[3 * t + 2] - before[3 * t + 1];
  }
}

Shape shape_of(const DeviceLayout& layout, const cuda::RatingsOfRows& rows) {
  return {rows, layout.rule, layout.tiles, layout.tile_width};
}

}  // namespace

DeviceLayout make_device_layout(const cuda::RatingsOfRows& rows, std::int64_t n_others,
                                const LayoutRule& rule, cudaStream_t stream) {
  DeviceLayout layout;
  layout.rule = rule;
  layout.rows = rows.rows;
  layout.tiles = tile_count(rows.rows, n_others, rows.nnz, rule.widest);
  layout.tile_width = tile_width(n_others, layout.tiles);
  number_tasks(layout, shape_of(layout, rows), stream);
  sum_costs(layout, stream);
  return layout;
}

Pieces cut_pieces(const DeviceLayout& layout, std::int64_t blocks, cudaStream_t stream) {
  const View<const TileTasks> tiles(layout.tile_tasks);
  const Shares shares = cut_shares(tiles, blocks);
  const std::vector<Cut> cuts = cuts_of(shares, tiles);
  std::vector<std::int64_t> places(cuts.size());
  if (!cuts.empty()) {
    const auto asked = cuda::upload(View<const Cut>(cuts), stream);
    cuda::StreamBuffer<std::int64_t> device(std::ssize(cuts), stream);
    cut_kernel<<<blocks_over(std::ssize(cuts)), kThreads, 0, stream>>>(
        asked.data(), std::ssize(cuts), layout.cost_before.data(), device.data());
    MF_CUDA_LAUNCHED("ccd++ cuts");
    cuda::download(View<std::int64_t>(places), device.data(), stream);
  }
  return make_pieces(shares, View<const std::int64_t>(places));
}

template <class Index>
void fill_layout(const DeviceLayout& layout, const cuda::RatingsOfRows& rows, Index* indices,
                 float* values, cudaStream_t stream) {
  if (layout.units == 0) return;
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
