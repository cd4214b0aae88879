// CUB's scans and sorts with their memory. Counts are 64-bit; all is queued on the stream.
#pragma once

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::cuda {

// Calls call(temporary, bytes): once to learn the bytes, once with them.
template <class Call>
void with_temporary(cudaStream_t stream, Call&& call) {
  std::size_t bytes = 0;
  MF_CUDA(call(nullptr, bytes));
  StreamBuffer<std::byte> temporary(static_cast<std::int64_t>(bytes) + 1, stream);
  MF_CUDA(call(temporary.data(), bytes));
}

// sums[i] = the sum of values[0] to values[i - 1].
template <class Values, class Sums>
void exclusive_sums(Values values, Sums sums, std::int64_t count, cudaStream_t stream) {
  with_temporary(stream, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, values, sums, count, stream);
  });
}

// Sorts pairs by the low `bits` of the key, equal ones in the order they come in. Both buffers are
// used; `keys.Current()` and `values.Current()` are the sorted ones.
template <class Key, class Value>
void sort_pairs(cub::DoubleBuffer<Key>& keys, cub::DoubleBuffer<Value>& values, std::int64_t count,
                int bits, cudaStream_t stream) {
  with_temporary(stream, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, count, 0, bits, stream);
  });
}

// Bits of the numbers [0, count).
inline int bits_of(std::int64_t count) {
  int bits = 1;
  while (bits < 63 && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

}  // namespace mf::cuda
