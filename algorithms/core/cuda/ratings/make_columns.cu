// A stable radix sort by item of ratings that lie by user. If memory is short, it
// sorts some users at a time, and adds an item's ratings behind those of earlier users.
//
// Bytes of a rating: 8 read and 12 written for the keys, then 24 for each pass of the sort (8 bits
// of the item each).
#include "algorithms/core/cuda/ratings/make_columns.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "algorithms/core/cuda/ratings/walk_rows.cuh"

namespace mf::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kHistogramThreads = 1024;
constexpr std::int64_t kMostBlocks = 1 << 16;
constexpr std::int64_t kWorthShared = 1 << 20;  // ratings, so that counters are the lesser part

__device__ std::int64_t thread_number() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}
__device__ std::int64_t thread_count() { return std::int64_t{gridDim.x} * kThreads; }

// For a rating of the stretch: its item, and itself with its user.
struct ItemKeys : RowVisitor {
  std::int64_t begin;
  std::uint32_t* items;
  RowRating* ratings;

  __device__ void operator()(std::int64_t row, std::int64_t i, RowRating rating) {
    items[i - begin] = static_cast<std::uint32_t>(rating.other);
    ratings[i - begin] = {static_cast<std::int32_t>(row), rating.value};
  }
};

struct UserOfRating : RowVisitor {
  std::int32_t* users;

  __device__ void operator()(std::int64_t row, std::int64_t i, RowRating) {
    users[i] = static_cast<std::int32_t>(row);
  }
};

// begins[item] = the first of the sorted keys that is not below it, for item in [0, n_items].
__global__ void __launch_bounds__(kThreads)
    begin_kernel(const std::uint32_t* keys, std::int64_t count, std::int64_t n_items,
                 std::int64_t* begins) {
  for (std::int64_t i = thread_number(); i <= count; i += thread_count()) {
    const std::int64_t before = i == 0 ? -1 : std::int64_t{keys[i - 1]};
    const std::int64_t here = i == count ? n_items : std::int64_t{keys[i]};
    for (std::int64_t item = before + 1; item <= here; ++item) begins[item] = i;
  }
}

__global__ void __launch_bounds__(kThreads)
    place_kernel(const std::uint32_t* keys, const RowRating* ratings, std::int64_t count,
                 const std::int64_t* begins, const std::int64_t* next, RowRating* columns) {
  for (std::int64_t i = thread_number(); i < count; i += thread_count()) {
    const std::uint32_t item = keys[i];
    columns[next[item] + i - begins[item]] = ratings[i];
  }
}

__global__ void __launch_bounds__(kThreads)
    advance_kernel(const std::int64_t* begins, std::int64_t n_items, std::int64_t* next) {
  for (std::int64_t item = thread_number(); item < n_items; item += thread_count()) {
    next[item] += begins[item + 1] - begins[item];
  }
}

// first[k] = the last row that begins at or before rating k * at_once.
__global__ void first_row_kernel(const RatingsOfRows rows, std::int64_t at_once, std::int64_t cuts,
                                 std::int64_t* first) {
  const std::int64_t k = thread_number();
  if (k >= cuts) return;
  std::int64_t low = 0;
  std::int64_t high = rows.rows;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    if (rows.offsets[middle] <= k * at_once) {
      low = middle;
    } else {
      high = middle;
    }
  }
  first[k] = low;
}

// Integers: the same in any order of additions.
__global__ void __launch_bounds__(kThreads)
    histogram_kernel(const RowRating* ratings, std::int64_t nnz, unsigned long long* counts) {
  for (std::int64_t i = thread_number(); i < nnz; i += thread_count()) {
    atomicAdd(counts + ratings[i].other, 1ULL);
  }
}

// The same if counters of all items fit into shared memory, each thread block its own: the most
// popular items are not waited for by all. A block sees fewer than 2^32 ratings.
__global__ void __launch_bounds__(kHistogramThreads)
    shared_histogram_kernel(const RowRating* ratings, std::int64_t nnz, std::int64_t n_items,
                            unsigned long long* counts) {
  extern __shared__ unsigned own[];
  for (std::int64_t item = threadIdx.x; item < n_items; item += kHistogramThreads) own[item] = 0;
  __syncthreads();
  const std::int64_t step = std::int64_t{gridDim.x} * kHistogramThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kHistogramThreads + threadIdx.x; i < nnz;
       i += step) {
    atomicAdd(own + ratings[i].other, 1U);
  }
  __syncthreads();
  for (std::int64_t item = threadIdx.x; item < n_items; item += kHistogramThreads) {
    if (own[item] > 0) atomicAdd(counts + item, static_cast<unsigned long long>(own[item]));
  }
}

__global__ void __launch_bounds__(kThreads)
    difference_kernel(const std::int64_t* offsets, std::int64_t* counts, std::int64_t rows) {
  for (std::int64_t row = thread_number(); row < rows; row += thread_count()) {
    counts[row] = offsets[row + 1] - offsets[row];
  }
}

__global__ void __launch_bounds__(kThreads)
    positive_kernel(const std::int64_t* counts, std::int64_t count, unsigned long long* positive) {
  unsigned long long own = 0;
  for (std::int64_t i = thread_number(); i < count; i += thread_count()) own += counts[i] > 0;
  for (int lane = 16; lane > 0; lane /= 2) own += __shfl_xor_sync(0xffffffff, own, lane);
  if (threadIdx.x % 32 == 0 && own > 0) atomicAdd(positive, own);
}

std::int64_t most_shared_bytes() {
  int device = 0;
  int bytes = 0;
  MF_CUDA(cudaGetDevice(&device));
  MF_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}

unsigned blocks_over(std::int64_t count) { return blocks_for(count, kThreads, kMostBlocks); }

// The pieces that are sorted one after another.
std::vector<RatingStretch> stretches(const RatingsOfRows& rows, std::int64_t at_once,
                                     cudaStream_t stream) {
  if (rows.nnz <= at_once) return {{0, rows.nnz, 0, rows.rows}};
  const std::int64_t cuts = (rows.nnz + at_once - 1) / at_once;
  StreamBuffer<std::int64_t> device(cuts, stream);
  first_row_kernel<<<blocks_over(cuts), kThreads, 0, stream>>>(rows, at_once, cuts, device.data());
  MF_CUDA_LAUNCHED("make_columns cut");
  std::vector<std::int64_t> first(cuts);
  download(View<std::int64_t>(first), device.data(), stream);
  std::vector<RatingStretch> parts;
  for (std::int64_t k = 0; k < cuts; ++k) {
    const std::int64_t end = std::min(rows.nnz, (k + 1) * at_once);
    parts.push_back({k * at_once, end, first[k], k + 1 < cuts ? first[k + 1] + 1 : rows.rows});
  }
  return parts;
}

// Ratings of a stretch, sorted by item.
class Sorter {
 public:
  Sorter(std::int64_t most, std::int64_t n_items, cudaStream_t stream)
      : n_items_(n_items),
        stream_(stream),
        keys_a_(most, stream),
        keys_b_(most, stream),
        ratings_a_(most),
        ratings_b_(most) {}

  void sort(const RatingsOfRows& rows, const RatingStretch& part) {
    walk_ratings(rows, part, ItemKeys{{}, part.begin, keys_a_.data(), ratings_a_.data()},
                 "make_columns keys", stream_);
    using Word = unsigned long long;  // a rating, moved as one
    cub::DoubleBuffer<std::uint32_t> keys(keys_a_.data(), keys_b_.data());
    cub::DoubleBuffer<Word> ratings(reinterpret_cast<Word*>(ratings_a_.data()),
                                    reinterpret_cast<Word*>(ratings_b_.data()));
    sort_pairs(keys, ratings, part.count(), bits_of(n_items_), stream_);
    sorted_keys_ = keys.Current();
    in_a_ = ratings.Current() == reinterpret_cast<Word*>(ratings_a_.data());
  }

  const std::uint32_t* keys() const { return sorted_keys_; }
  DeviceBuffer<RowRating>& ratings() { return in_a_ ? ratings_a_ : ratings_b_; }

 private:
  std::int64_t n_items_;
  cudaStream_t stream_;
  StreamBuffer<std::uint32_t> keys_a_, keys_b_;
  DeviceBuffer<RowRating> ratings_a_, ratings_b_;
  const std::uint32_t* sorted_keys_ = nullptr;
  bool in_a_ = true;
};

void find_begins(const std::uint32_t* keys, std::int64_t count, std::int64_t n_items,
                 std::int64_t* begins, cudaStream_t stream) {
  begin_kernel<<<blocks_over(count + 1), kThreads, 0, stream>>>(keys, count, n_items, begins);
  MF_CUDA_LAUNCHED("make_columns begins");
}

DeviceColumns sort_at_once(const RatingsOfRows& rows, std::int64_t n_items, cudaStream_t stream) {
  DeviceColumns made;
  made.offsets = DeviceBuffer<std::int64_t>(n_items + 1);
  Sorter sorter(rows.nnz, n_items, stream);
  sorter.sort(rows, {0, rows.nnz, 0, rows.rows});
  find_begins(sorter.keys(), rows.nnz, n_items, made.offsets.data(), stream);
  made.ratings = std::move(sorter.ratings());
  return made;
}

DeviceColumns sort_in_turn(const RatingsOfRows& rows, std::int64_t n_items, std::int64_t at_once,
                           cudaStream_t stream) {
  DeviceColumns made;
  made.offsets = DeviceBuffer<std::int64_t>(n_items + 1);
  StreamBuffer<std::int64_t> counts(n_items + 1, stream);
  MF_CUDA(cudaMemsetAsync(counts.data() + n_items, 0, sizeof(std::int64_t), stream));
  count_items(rows, counts.data(), n_items, stream);
  exclusive_sums(counts.data(), made.offsets.data(), n_items + 1, stream);
  StreamBuffer<std::int64_t> next(n_items + 1, stream);
  MF_CUDA(cudaMemcpyAsync(next.data(), made.offsets.data(), made.offsets.bytes(),
                          cudaMemcpyDeviceToDevice, stream));
  made.ratings = DeviceBuffer<RowRating>(rows.nnz);
  StreamBuffer<std::int64_t> begins(n_items + 1, stream);
  Sorter sorter(at_once, n_items, stream);
  for (const RatingStretch& part : stretches(rows, at_once, stream)) {
    sorter.sort(rows, part);
    find_begins(sorter.keys(), part.count(), n_items, begins.data(), stream);
    place_kernel<<<blocks_over(part.count()), kThreads, 0, stream>>>(
        sorter.keys(), sorter.ratings().data(), part.count(), begins.data(), next.data(),
        made.ratings.data());
    MF_CUDA_LAUNCHED("make_columns place");
    advance_kernel<<<blocks_over(n_items), kThreads, 0, stream>>>(begins.data(), n_items,
                                                                  next.data());
    MF_CUDA_LAUNCHED("make_columns advance");
  }
  return made;
}

}  // namespace

DeviceColumns make_columns(const RatingsOfRows& rows, std::int64_t n_items, std::int64_t at_once,
                           cudaStream_t stream) {
  if (rows.nnz == 0) {
    DeviceColumns none;
    none.offsets = zeros<std::int64_t>(n_items + 1, stream);
    return none;
  }
  return rows.nnz <= at_once ? sort_at_once(rows, n_items, stream)
                             : sort_in_turn(rows, n_items, at_once, stream);
}

void count_items(const RatingsOfRows& rows, std::int64_t* counts, std::int64_t n_items,
                 cudaStream_t stream) {
  MF_CUDA(
      cudaMemsetAsync(counts, 0, static_cast<std::size_t>(n_items) * sizeof(std::int64_t), stream));
  if (rows.nnz == 0) return;
  auto* to = reinterpret_cast<unsigned long long*>(counts);
  const auto shared = n_items * static_cast<std::int64_t>(sizeof(unsigned));
  if (shared > most_shared_bytes() || rows.nnz < kWorthShared) {
    histogram_kernel<<<blocks_over(rows.nnz), kThreads, 0, stream>>>(rows.ratings, rows.nnz, to);
  } else {
    MF_CUDA(cudaFuncSetAttribute(shared_histogram_kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared)));
    shared_histogram_kernel<<<2 * multiprocessors(), kHistogramThreads, shared, stream>>>(
        rows.ratings, rows.nnz, n_items, to);
  }
  MF_CUDA_LAUNCHED("count_items");
}

void count_rows(const std::int64_t* offsets, std::int64_t* counts, std::int64_t rows,
                cudaStream_t stream) {
  if (rows == 0) return;
  difference_kernel<<<blocks_over(rows), kThreads, 0, stream>>>(offsets, counts, rows);
  MF_CUDA_LAUNCHED("count_rows");
}

std::int64_t count_positive(const std::int64_t* counts, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return 0;
  StreamBuffer<unsigned long long> device(1, stream);
  MF_CUDA(cudaMemsetAsync(device.data(), 0, sizeof(unsigned long long), stream));
  positive_kernel<<<blocks_for(count, kThreads, 4 * multiprocessors()), kThreads, 0, stream>>>(
      counts, count, device.data());
  MF_CUDA_LAUNCHED("count_positive");
  unsigned long long found = 0;
  download(View<unsigned long long>(&found, 1), device.data(), stream);
  return static_cast<std::int64_t>(found);
}

std::int64_t count_rated_rows(const std::int64_t* offsets, std::int64_t rows, cudaStream_t stream) {
  StreamBuffer<std::int64_t> counts(rows, stream);
  count_rows(offsets, counts.data(), rows, stream);
  return count_positive(counts.data(), rows, stream);
}

void expand_users(const RatingsOfRows& rows, std::int32_t* users, cudaStream_t stream) {
  if (rows.nnz == 0) return;
  walk_ratings(rows, UserOfRating{{}, users}, "expand_users", stream);
}

}  // namespace mf::cuda
