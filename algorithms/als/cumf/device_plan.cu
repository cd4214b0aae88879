// Rows sorted by length; prefix sums of their parts place the tasks; a stable sort by batch and
// length puts the longest of a batch first. Bytes: some 100 a row and 100 a task.
#include "algorithms/als/cumf/device_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"

namespace mf::als {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostLength = std::numeric_limits<std::int32_t>::max();
constexpr int kLengthBits = 31;

__device__ std::int64_t thread_number() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

unsigned blocks_over(std::int64_t count) { return cuda::blocks_for(count, kThreads); }

// The keys sort by falling length.
__global__ void __launch_bounds__(kThreads)
    length_kernel(const std::int64_t* offsets, std::int64_t rows, std::uint32_t* keys,
                  std::int32_t* numbers) {
  const std::int64_t row = thread_number();
  if (row >= rows) return;
  keys[row] = static_cast<std::uint32_t>(kMostLength - (offsets[row + 1] - offsets[row]));
  numbers[row] = static_cast<std::int32_t>(row);
}

cuda::DeviceBuffer<std::int32_t> by_length(const std::int64_t* offsets, std::int64_t rows,
                                           cudaStream_t stream) {
  cuda::StreamBuffer<std::uint32_t> keys(rows, stream), other_keys(rows, stream);
  cuda::DeviceBuffer<std::int32_t> numbers(rows), other_numbers(rows);
  length_kernel<<<blocks_over(rows), kThreads, 0, stream>>>(offsets, rows, keys.data(),
                                                            numbers.data());
  MF_CUDA_LAUNCHED("als lengths");
  cub::DoubleBuffer<std::uint32_t> by(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::int32_t> order(numbers.data(), other_numbers.data());
  cuda::sort_pairs(by, order, rows, kLengthBits, stream);
  return order.Current() == numbers.data() ? std::move(numbers) : std::move(other_numbers);
}

// How the rows are cut for one of the two kernels: A, or b.
struct Cutting {
  const std::int64_t* offsets;
  const std::int32_t* order;
  std::int64_t rated;
  std::int64_t split;
  std::int64_t most_parts;

  __device__ std::int64_t count(std::int64_t at) const {
    return offsets[order[at] + 1] - offsets[order[at]];
  }
  __device__ std::int64_t parts(std::int64_t at) const {
    return parts_of(count(at), split, most_parts);
  }
};

// For the row at a place, and then of those before it: its tasks, whether it is cut, its parts if
// it is. One element more than rows.
struct Sums {
  std::int64_t* tasks;
  std::int64_t* splits;
  std::int64_t* parts;
};

__global__ void __launch_bounds__(kThreads) count_kernel(const Cutting cutting, const Sums to) {
  const std::int64_t at = thread_number();
  if (at > cutting.rated) return;
  const std::int64_t parts = at < cutting.rated ? cutting.parts(at) : 0;
  to.tasks[at] = parts;
  to.splits[at] = parts > 1 ? 1 : 0;
  to.parts[at] = parts > 1 ? parts : 0;
}

// The sums before `places`, which are one after another.
__global__ void __launch_bounds__(kThreads)
    sums_kernel(const Sums sums, const std::int64_t* places, std::int64_t count, std::int64_t* to) {
  const std::int64_t i = thread_number();
  if (i >= count) return;
  to[3 * i] = sums.tasks[places[i]];
  to[3 * i + 1] = sums.splits[places[i]];
  to[3 * i + 2] = sums.parts[places[i]];
}

__global__ void __launch_bounds__(kThreads)
    parts_kernel(const Cutting cutting, std::int64_t count, std::int64_t* parts) {
  const std::int64_t at = thread_number();
  if (at < count) parts[at] = cutting.parts(at);
}

// The last of `count` batches that begins at or before a place.
__device__ std::int64_t batch_of(const std::int64_t* begins, std::int64_t count, std::int64_t at) {
  std::int64_t low = 0;
  std::int64_t high = count;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (begins[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

struct Batches {
  const std::int64_t* begins;  // count + 1
  std::int64_t count;
};

struct Unsorted {
  RowTask* tasks;
  std::uint64_t* keys;  // by batch, then by falling length
  std::uint32_t* numbers;
};

// A thread a row.
__global__ void __launch_bounds__(kThreads)
    task_kernel(const Cutting cutting, const Sums before, const Batches batches, const Unsorted to,
                SplitRow* splits) {
  const std::int64_t at = thread_number();
  if (at >= cutting.rated) return;
  const std::int64_t batch = batch_of(batches.begins, batches.count, at);
  const std::int64_t first = batches.begins[batch];
  const std::int32_t row = cutting.order[at];
  const auto slot = static_cast<std::int32_t>(at - first);
  const std::int64_t count = cutting.count(at);
  const std::int64_t parts = before.tasks[at + 1] - before.tasks[at];
  const auto first_part = static_cast<std::int32_t>(before.parts[at] - before.parts[first]);
  if (parts > 1) {
    splits[before.splits[at]] = {count, slot, first_part, static_cast<std::int32_t>(parts)};
  }
  for (std::int64_t k = 0; k < parts; ++k) {
    const Range range = part_range(count, parts, k);
    const std::int64_t i = before.tasks[at] + k;
    const auto length = static_cast<std::int32_t>(range.size());
    to.tasks[i] = {cutting.offsets[row] + range.begin, length, row, slot,
                   parts > 1 ? first_part + static_cast<std::int32_t>(k) : -1};
    to.keys[i] = static_cast<std::uint64_t>(batch) << kLengthBits |
                 static_cast<std::uint64_t>(kMostLength - length);
    to.numbers[i] = static_cast<std::uint32_t>(i);
  }
}

__global__ void __launch_bounds__(kThreads)
    gather_kernel(const RowTask* from, const std::uint32_t* numbers, std::int64_t count,
                  RowTask* to) {
  const std::int64_t i = thread_number();
  if (i < count) to[i] = from[numbers[i]];
}

struct SummedParts {
  SummedParts(const Cutting& cut, cudaStream_t on)
      : cutting(cut),
        stream(on),
        tasks(cut.rated + 1, on),
        splits(cut.rated + 1, on),
        parts(cut.rated + 1, on) {
    count_kernel<<<blocks_over(cut.rated + 1), kThreads, 0, on>>>(cut, sums());
    MF_CUDA_LAUNCHED("als parts");
    for (std::int64_t* numbers : {tasks.data(), splits.data(), parts.data()}) {
      cuda::exclusive_sums(numbers, numbers, cut.rated + 1, on);
    }
  }
  Sums sums() { return {tasks.data(), splits.data(), parts.data()}; }

  // Tasks, cut rows and parts before each place, three numbers one after another.
  std::vector<std::int64_t> before(const std::vector<std::int64_t>& places) {
    const auto count = static_cast<std::int64_t>(places.size());
    const auto where = cuda::upload(View<const std::int64_t>(places), stream);
    cuda::StreamBuffer<std::int64_t> device(3 * count, stream);
    sums_kernel<<<blocks_over(count), kThreads, 0, stream>>>(sums(), where.data(), count,
                                                             device.data());
    MF_CUDA_LAUNCHED("als sums");
    std::vector<std::int64_t> found(3 * count);
    cuda::download(View<std::int64_t>(found), device.data(), stream);
    return found;
  }

  Cutting cutting;
  cudaStream_t stream;
  cuda::StreamBuffer<std::int64_t> tasks, splits, parts;
};

// Ranges and tasks of one of the two kernels.
struct Tasks {
  cuda::DeviceBuffer<RowTask> tasks;
  cuda::DeviceBuffer<SplitRow> splits;
  std::vector<std::int64_t> before;  // the batches and the end: as SummedParts::before
  std::int64_t most_parts = 0;       // of a batch

  Range task_range(std::size_t batch) const { return {before[3 * batch], before[3 * batch + 3]}; }
  Range split_range(std::size_t batch) const {
    return {before[3 * batch + 1], before[3 * batch + 4]};
  }
};

Tasks make_tasks(const Cutting& cutting, const std::vector<std::int64_t>& begins,
                 cudaStream_t stream) {
  SummedParts sums(cutting, stream);
  Tasks made;
  made.before = sums.before(begins);
  const auto batches = static_cast<std::int64_t>(begins.size()) - 1;
  for (std::int64_t b = 0; b < batches; ++b) {
    made.most_parts = std::max(made.most_parts, made.before[3 * b + 5] - made.before[3 * b + 2]);
  }
  const std::int64_t count = made.before[3 * batches];
  made.splits = cuda::DeviceBuffer<SplitRow>(made.before[3 * batches + 1]);
  const auto where = cuda::upload(View<const std::int64_t>(begins), stream);
  cuda::StreamBuffer<RowTask> unsorted(count, stream);
  cuda::StreamBuffer<std::uint64_t> keys(count, stream), other_keys(count, stream);
  cuda::StreamBuffer<std::uint32_t> numbers(count, stream), other_numbers(count, stream);
  task_kernel<<<blocks_over(cutting.rated), kThreads, 0, stream>>>(
      cutting, sums.sums(), {where.data(), batches}, {unsorted.data(), keys.data(), numbers.data()},
      made.splits.data());
  MF_CUDA_LAUNCHED("als tasks");
  cub::DoubleBuffer<std::uint64_t> by(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> order(numbers.data(), other_numbers.data());
  cuda::sort_pairs(by, order, count, kLengthBits + cuda::bits_of(batches), stream);
  made.tasks = cuda::DeviceBuffer<RowTask>(count);
  gather_kernel<<<blocks_over(count), kThreads, 0, stream>>>(unsorted.data(), order.Current(),
                                                             count, made.tasks.data());
  MF_CUDA_LAUNCHED("als gather tasks");
  return made;
}

}  // namespace

RowOrder order_rows(const std::int64_t* offsets, std::int64_t rows, std::int64_t split_rows,
                    cudaStream_t stream) {
  RowOrder order;
  if (rows == 0) return order;
  order.rows = by_length(offsets, rows, stream);
  order.rated = cuda::count_rated_rows(offsets, rows, stream);
  const Cutting cutting = {offsets, order.rows.data(), order.rated, split_rows, kMaxRowParts};
  if (order.rated == 0 || split_rows <= 0) return order;
  SummedParts sums(cutting, stream);
  const auto all = sums.before({order.rated});
  order.split.resize(all[1]);
  order.parts = all[2];
  if (order.split.empty()) return order;
  cuda::StreamBuffer<std::int64_t> parts(all[1], stream);
  parts_kernel<<<blocks_over(all[1]), kThreads, 0, stream>>>(cutting, all[1], parts.data());
  MF_CUDA_LAUNCHED("als split rows");
  cuda::download(View<std::int64_t>(order.split), parts.data(), stream);
  return order;
}

SidePlan make_side_plan(const std::int64_t* offsets, RowOrder order, const PlanRule& rule,
                        cudaStream_t stream) {
  std::vector<std::int64_t> begins;
  if (order.rated > 0) {
    begins = cut_batches(View<const std::int64_t>(order.split), order.rated, rule);
  }
  return make_side_plan(offsets, std::move(order.rows), begins, rule.split_rows, stream);
}

SidePlan make_side_plan(const std::int64_t* offsets, cuda::DeviceBuffer<std::int32_t> order,
                        const std::vector<std::int64_t>& begins, std::int64_t split_rows,
                        cudaStream_t stream) {
  SidePlan plan;
  plan.order = std::move(order);
  plan.rated = begins.empty() ? 0 : begins.back();
  if (plan.rated == 0) return plan;
  const std::int32_t* rows = plan.order.data();
  Tasks of_a = make_tasks({offsets, rows, plan.rated, split_rows, kMaxRowParts}, begins, stream);
  Tasks of_b = make_tasks({offsets, rows, plan.rated, kBiasSplit, kMaxBiasParts}, begins, stream);
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
    const Range range = {begins[b], begins[b + 1]};
    plan.most_rows = std::max(plan.most_rows, range.size());
    plan.batches.push_back(
        {range, of_a.task_range(b), of_a.split_range(b), of_b.task_range(b), of_b.split_range(b)});
  }
  plan.most_parts = of_a.most_parts;
  plan.most_bias_parts = of_b.most_parts;
  plan.tasks = std::move(of_a.tasks);
  plan.splits = std::move(of_a.splits);
  plan.bias_tasks = std::move(of_b.tasks);
  plan.bias_splits = std::move(of_b.splits);
  return plan;
}

}  // namespace mf::als
