// Ratings in another order: by a key of their user and item, equal ones as they come or in a random
// order.
//
// Bytes of a rating: 12 for the users of all; 12 read for the keys (two sectors of 32 if the order
// is random) and 4 + sizeof(Key) written; 2 (4 + sizeof(Key)) for each pass of the sort, 8 bits of
// the key; at last 4 and two sectors read, and 12 written.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/core/cuda/ratings/scan_sort.cuh"
#include "datasets/ratings/rating.hpp"

namespace mf::cuda {

namespace sorting {

inline constexpr int kThreads = 256;
inline unsigned blocks_over(std::int64_t count) {
  return blocks_for(count, kThreads, std::int64_t{1} << 20);
}

template <class Body>
__global__ void __launch_bounds__(kThreads) each_kernel(std::int64_t count, const Body body) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    body(i);
  }
}

// The rating i of the rows.
struct RatingAt {
  const RowRating* ratings;
  const std::int32_t* of_user;

  __device__ Rating operator()(std::int64_t i) const {
    return {of_user[i], ratings[i].other, ratings[i].value};
  }
};

template <class Key, class KeyOf, class First>
struct MakeKey {
  RatingAt at;
  KeyOf key_of;
  First first;
  Key* keys;
  std::uint32_t* numbers;

  __device__ void operator()(std::int64_t j) const {
    const std::int64_t i = first(j);
    const Rating rating = at(i);
    keys[j] = key_of(rating.user, rating.item);
    numbers[j] = static_cast<std::uint32_t>(i);
  }
};

template <class Put>
struct PutRating {
  RatingAt at;
  const std::uint32_t* numbers;
  Put put;

  __device__ void operator()(std::int64_t j) const { put(j, at(numbers[j])); }
};

template <class KeyAt>
struct FindBegin {
  KeyAt key;
  std::int64_t count;
  std::uint64_t step;
  std::int64_t* begins;

  __device__ void operator()(std::int64_t k) const {
    const std::uint64_t least = static_cast<std::uint64_t>(k) * step;
    std::int64_t low = 0;
    std::int64_t high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (key(middle) < least) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    begins[k] = low;
  }
};

}  // namespace sorting

// body(i) for i in [0, count), a __device__ function object. Queued. `name` is for errors.
template <class Body>
void for_each_index(std::int64_t count, const Body& body, const char* name, cudaStream_t stream) {
  if (count == 0) return;
  sorting::each_kernel<<<sorting::blocks_over(count), sorting::kThreads, 0, stream>>>(count, body);
  MF_CUDA_LAUNCHED(name);
}

// The order in which ratings lie.
struct AsTheyLie {
  __device__ std::int64_t operator()(std::int64_t i) const { return i; }
};

// Fewer than 2^32 ratings of rows, which must live as long. Key is std::uint32_t or std::uint64_t.
template <class Key>
class RatingSorter {
 public:
  // By the low `bits` of key_of(user, item); equal ones in the order first(0), first(1), ... of the
  // ratings, `first` being a bijection. Both are __device__ function objects. Queued.
  template <class KeyOf, class First>
  RatingSorter(const RatingsOfRows& rows, const KeyOf& key_of, int bits, const First& first,
               cudaStream_t stream)
      : rows_(rows),
        stream_(stream),
        of_user_(rows.nnz, stream),
        numbers_(rows.nnz, stream),
        other_numbers_(rows.nnz, stream) {
    if (rows.nnz == 0) return;
    expand_users(rows, of_user_.data(), stream);
    StreamBuffer<Key> keys(rows.nnz, stream), other_keys(rows.nnz, stream);
    for_each_index(
        rows.nnz,
        sorting::MakeKey<Key, KeyOf, First>{at(), key_of, first, keys.data(), numbers_.data()},
        "keys of ratings", stream);
    cub::DoubleBuffer<Key> by(keys.data(), other_keys.data());
    cub::DoubleBuffer<std::uint32_t> order(numbers_.data(), other_numbers_.data());
    sort_pairs(by, order, rows.nnz, bits, stream);
    sorted_ = order.Current();
  }

  // put(j, rating) of the j-th rating in the new order. Queued.
  template <class Put>
  void copy(const Put& put) {
    for_each_index(rows_.nnz, sorting::PutRating<Put>{at(), sorted_, put}, "sorted ratings",
                   stream_);
  }

 private:
  sorting::RatingAt at() { return {rows_.ratings, of_user_.data()}; }

  RatingsOfRows rows_;
  cudaStream_t stream_;
  StreamBuffer<std::int32_t> of_user_;
  StreamBuffer<std::uint32_t> numbers_, other_numbers_;
  const std::uint32_t* sorted_ = nullptr;
};

// begins[k] = the first i in [0, count) with key(i) >= k * step, or count; for k in [0, last]. Keys
// rise with i; key is a __device__ function object. Queued.
template <class KeyAt>
void find_begins(const KeyAt& key, std::int64_t count, std::int64_t step, std::int64_t last,
                 std::int64_t* begins, cudaStream_t stream) {
  for_each_index(last + 1,
                 sorting::FindBegin<KeyAt>{key, count, static_cast<std::uint64_t>(step), begins},
                 "begins of keys", stream);
}

}  // namespace mf::cuda
