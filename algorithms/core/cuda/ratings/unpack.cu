// A thread block takes a stretch of the words into shared memory, each word once over the bus, and
// unpacks them there. Bytes of a rating: its bits read, 8 written.
#include "algorithms/core/cuda/ratings/unpack.hpp"

#include <algorithm>

#include "algorithms/core/cuda/launch.hpp"

namespace mf::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRatings = 2048;  // of a thread block: whole blocks of the form
constexpr int kMostWords = kRatings / kPackedBlock * 63;
static_assert(kRatings % (2 * kPackedBlock) == 0, "so that its words begin at 16 bytes");

struct Table {
  float values[kMostTableValues];
};

__global__ void __launch_bounds__(kThreads)
    unpack_kernel(const PackedForm form, const __grid_constant__ Table table,
                  const std::uint64_t* words, std::int64_t skip, std::int64_t count,
                  RowRating* to) {
  __shared__ ulonglong2 pairs[kMostWords / 2 + 1];
  __shared__ float values[kMostTableValues];
  const std::int64_t first = std::int64_t{blockIdx.x} * kRatings;
  const auto own = static_cast<int>(min(count - first, std::int64_t{kRatings}));
  const auto own_pairs = static_cast<int>((form.words(own) + 1) / 2);
  const auto* from = reinterpret_cast<const ulonglong2*>(words + form.words(first));
  for (int i = threadIdx.x; i < own_pairs; i += kThreads) pairs[i] = from[i];
  if (threadIdx.x == 0) pairs[own_pairs] = {0, 0};
  for (int i = threadIdx.x; i < kMostTableValues; i += kThreads) values[i] = table.values[i];
  __syncthreads();
  const auto* own_words = reinterpret_cast<const std::uint64_t*>(pairs);
  for (int i = threadIdx.x; i < own; i += kThreads) {
    const std::int64_t at = first + i - skip;
    if (at >= 0) to[at] = unpacked(form, values, own_words, i);
  }
}

}  // namespace

void unpack_ratings(const PackedForm& form, View<const float> table, const std::uint64_t* words,
                    std::int64_t skip, std::int64_t count, RowRating* to, cudaStream_t stream) {
  if (count <= skip) return;
  Table values{};
  std::copy(table.begin(), table.end(), values.values);
  unpack_kernel<<<blocks_for(count, kRatings), kThreads, 0, stream>>>(form, values, words, skip,
                                                                      count, to);
  MF_CUDA_LAUNCHED("unpack_ratings");
}

}  // namespace mf::cuda
