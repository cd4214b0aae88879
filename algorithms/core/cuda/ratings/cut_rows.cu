// Every row counts its parts, prefix sums place them, and a stable sort by part_order() puts them
// in order. Bytes: about 80 a part and 24 a row.
#include "algorithms/core/cuda/ratings/cut_rows.hpp"

#include <limits>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "algorithms/core/ranks/part_order.hpp"
#include "base/error.hpp"

namespace mf::cuda {
namespace {

constexpr int kThreads = 256;

// The parts and slots of a row.
struct RowCounts {
  const std::int64_t* offsets;
  std::int64_t rows;
  std::int64_t longest;
  std::int64_t last_up_to;  // whole rows of at most this many ratings come last

  __device__ std::int64_t count(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
  __device__ std::int64_t parts(std::int64_t row) const {
    return parts_of_row(count(row), longest);
  }
};

// One element more than rows: its sum is the total.
__global__ void count_kernel(const RowCounts rows, std::int64_t* parts, std::int64_t* slots) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row > rows.rows) return;
  const std::int64_t own = row < rows.rows ? rows.parts(row) : 0;
  parts[row] = own;
  slots[row] = own > 1 ? own : 0;
}

// A thread a row.
__global__ void cut_kernel(const RowCounts rows, const std::int64_t* first_part,
                           const std::int64_t* first_slot, RowPart* parts, std::uint64_t* keys,
                           std::uint32_t* numbers) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows.rows) return;
  const std::int64_t count = rows.count(row);
  const std::int64_t own = rows.parts(row);
  for (std::int64_t part = 0; part < own; ++part) {
    const std::int64_t from = part_begin(count, part, own);
    const std::int64_t length = part_begin(count, part + 1, own) - from;
    const std::int64_t at = first_part[row] + part;
    RowPart made;
    made.begin = rows.offsets[row] + from;
    made.count = static_cast<std::int32_t>(length);
    made.row = static_cast<std::int32_t>(row);
    made.row_count = static_cast<std::int32_t>(count);
    made.part = static_cast<std::int32_t>(part);
    made.parts = static_cast<std::int32_t>(own);
    made.first_slot = own > 1 ? static_cast<std::int32_t>(first_slot[row]) : 0;
    parts[at] = made;
    keys[at] = static_cast<std::uint64_t>(
        part_order(made, rows.offsets[row], rows.longest, rows.last_up_to));
    numbers[at] = static_cast<std::uint32_t>(at);
  }
}

__global__ void gather_kernel(const RowPart* from, const std::uint32_t* numbers, std::int64_t count,
                              RowPart* to) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) to[i] = from[numbers[i]];
}

// parts[rows] and slots[rows] are the sums of all.
void read_totals(const std::int64_t* parts, const std::int64_t* slots, std::int64_t rows,
                 std::int64_t (&totals)[2], cudaStream_t stream) {
  MF_CUDA(cudaMemcpyAsync(&totals[0], parts + rows, sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                          stream));
  MF_CUDA(cudaMemcpyAsync(&totals[1], slots + rows, sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                          stream));
  MF_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace

DeviceParts cut_rows(const std::int64_t* offsets, std::int64_t rows, std::int64_t longest,
                     cudaStream_t stream, std::int64_t last_up_to) {
  DeviceParts made;
  if (rows == 0) return made;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  longest = std::min(longest, kMost);  // no row has more
  const RowCounts counts{offsets, rows, longest, last_up_to};
  StreamBuffer<std::int64_t> first_part(rows + 1, stream);
  StreamBuffer<std::int64_t> first_slot(rows + 1, stream);
  count_kernel<<<blocks_for(rows + 1, kThreads), kThreads, 0, stream>>>(counts, first_part.data(),
                                                                        first_slot.data());
  MF_CUDA_LAUNCHED("cut_rows count");
  exclusive_sums(first_part.data(), first_part.data(), rows + 1, stream);
  exclusive_sums(first_slot.data(), first_slot.data(), rows + 1, stream);
  std::int64_t totals[2] = {};
  read_totals(first_part.data(), first_slot.data(), rows, totals, stream);
  const auto [count, slots] = totals;
  if (count > kMost || slots > kMost) {
    fail(ErrorKind::unsupported,
         "rows cut at {} ratings make {} parts, expected fewer than 2^31; raise the longest part",
         longest, count);
  }
  StreamBuffer<RowPart> unsorted(count, stream);
  StreamBuffer<std::uint64_t> keys(count, stream), other_keys(count, stream);
  StreamBuffer<std::uint32_t> numbers(count, stream), other_numbers(count, stream);
  cut_kernel<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(
      counts, first_part.data(), first_slot.data(), unsorted.data(), keys.data(), numbers.data());
  MF_CUDA_LAUNCHED("cut_rows");
  cub::DoubleBuffer<std::uint64_t> by(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> order(numbers.data(), other_numbers.data());
  sort_pairs(by, order, count, bits_of(part_orders(longest)), stream);
  made.parts = DeviceBuffer<RowPart>(count);
  made.slots = static_cast<std::int32_t>(slots);
  gather_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      unsorted.data(), order.Current(), count, made.parts.data());
  MF_CUDA_LAUNCHED("cut_rows gather");
  return made;
}

}  // namespace mf::cuda
