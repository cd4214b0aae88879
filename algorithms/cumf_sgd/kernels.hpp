// Passes on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/ratings/device_ratings.hpp"
#include "algorithms/cumf_sgd/order.hpp"
#include "algorithms/cumf_sgd/settings.hpp"

namespace mf::cumf_sgd {

// Everything in device memory. Rows of P and Q are storage_stride values of the storage
// type, zero beyond the factors, 16-byte aligned. Ratings are in the order of the schedule.
struct Arrays {
  std::int32_t factors;
  std::int64_t nnz;
  const std::int32_t* users;
  const std::int32_t* items;
  const float* values;
  void* p;
  void* q;
};

// The common arguments of both schedules' passes.
struct Pass {
  const Settings& settings;
  Arrays arrays;
  sgd::Step<float> step;
  std::uint32_t seed;  // of the rounding; another in every epoch
  cudaStream_t stream;
};

struct RunOrder {
  std::int64_t runs;        // of a pass
  std::int64_t run_length;  // the last one may be shorter
  std::int64_t workers;     // runs at once, at most; whole blocks of threads, at least one
  bool replacement;         // starts anywhere
  std::uint64_t seed;
  std::int64_t epoch;
  Permutation permutation;  // of the runs, without replacement
};

void launch_batch_hogwild(const Pass& pass, const RunOrder& order, Mapping mapping);

// The rating at permutation(i) of the rows, whose users are `of_user`, goes to i.
void launch_permute(const cuda::RatingsOfRows& rows, const std::int32_t* of_user,
                    std::int32_t* users, std::int32_t* items, float* values,
                    const Permutation& permutation, cudaStream_t stream);

// The grid of the wavefront: block (band, column) holds the ratings
// [offsets[band * columns + column], offsets[band * columns + column + 1]).
struct Grid {
  std::int64_t bands;
  std::int64_t columns;
  const std::int64_t* offsets;
  std::int32_t* busy;  // a column: 1 while a worker holds it; all 0 between passes
  std::uint64_t seed;
};

// Workers that the device can hold at once: all must run, since they wait for each other.
std::int64_t resident_workers(const Settings& settings);

void launch_wavefront(const Pass& pass, const Grid& grid);

}  // namespace mf::cumf_sgd
