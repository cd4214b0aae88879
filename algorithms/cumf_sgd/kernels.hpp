// Passes on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/cumf_sgd/order.hpp"
#include "algorithms/cumf_sgd/settings.hpp"

namespace mf::cumf_sgd {

// Constants of a pass.
struct Step {
  float rate;
  Keeps keep;
};

// Everything in device memory. Rows of P and Q are storage_stride values of the storage
// type, zero beyond the factors, 16-byte aligned. Ratings are in the order of the schedule.
struct Arrays {
  std::int32_t factors = 0;
  std::int64_t nnz = 0;
  const std::int32_t* users = nullptr;
  const std::int32_t* items = nullptr;
  const float* values = nullptr;
  void* p = nullptr;
  void* q = nullptr;
};

struct RunOrder {
  std::int64_t runs;        // of a pass
  std::int64_t run_length;  // the last one may be shorter
  std::int64_t workers;     // runs at once, at most; whole blocks of threads, at least one
  bool replacement;         // starts anywhere
  std::uint64_t seed;
  std::uint64_t epoch;
  Permutation permutation;  // of the runs, without replacement
};

void launch_batch_hogwild(const Settings& settings, const Arrays& arrays, const Step& step,
                          const RunOrder& order, std::uint32_t seed, cudaStream_t stream);

// out = in, the rating at permutation(i) going to i.
void launch_permute(const Arrays& in, std::int32_t* users, std::int32_t* items, float* values,
                    const Permutation& permutation, cudaStream_t stream);

// The grid of the wavefront: block (band, column) holds the ratings
// [offsets[band * columns + column], offsets[band * columns + column + 1]).
struct Grid {
  std::int64_t bands = 0;
  std::int64_t columns = 0;
  const std::int64_t* offsets = nullptr;
  std::int32_t* busy = nullptr;  // a column: 1 while a worker holds it; all 0 between passes
  std::uint64_t seed = 0;
};

// Workers that the device can hold at once: all must run, since they wait for each other.
std::int64_t resident_workers(const Settings& settings);

void launch_wavefront(const Settings& settings, const Arrays& arrays, const Grid& grid,
                      const Step& step, std::uint32_t seed, cudaStream_t stream);

}  // namespace mf::cumf_sgd
