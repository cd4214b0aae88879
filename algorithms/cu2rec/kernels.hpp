// One iteration on the device: the work of each thread, for each mapping and item rule.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/sgd/sgd_rule.hpp"
#include "algorithms/cu2rec/schedule.hpp"
#include "algorithms/cu2rec/settings.hpp"
#include "datasets/ratings/rating.hpp"

struct curandStateXORWOW;

namespace mf::cu2rec {

// A copy of the item side.
struct Items {
  float* q = nullptr;
  float* bias = nullptr;
};

// Everything in device memory. Rows of P and Q are row_stride(factors, 4) floats, zero beyond the
// factors. If items are not swapped, `to` is `from`.
struct Arrays {
  std::int32_t n_users = 0;
  std::int32_t factors = 0;
  const std::int64_t* user_offsets = nullptr;
  const RowRating* ratings = nullptr;
  float* p = nullptr;
  float* user_bias = nullptr;
  Items from;
  Items to;
  curandStateXORWOW* states = nullptr;  // a user; null: random_bits
  std::uint64_t seed = 0;
  bool vector_atomics = true;          // as Settings has it
  std::int32_t* claimed_in = nullptr;  // an item: low 32 bits of the iteration that claimed it last
};

// The iteration that a launch does: `now`, or the one `scheduled` points to in device memory when
// it runs (for captured launches).
struct IterationSource {
  Iteration now{};
  const Iteration* scheduled = nullptr;
};

// Copies to constant memory, in stream order.
void set_step(const sgd::Step<float>& step, cudaStream_t stream);

// settings.users_per_warp is at least 1 for Mapping::warp.
void launch_iteration(const Settings& settings, const Arrays& arrays, const IterationSource& source,
                      cudaStream_t stream);

// schedule[k] = the k-th iteration from *next on; *next moves on by count. count <= 1024.
void launch_schedule(Iteration* schedule, int count, std::int64_t* next, std::int64_t stride,
                     std::int32_t n_users, cudaStream_t stream);

// A state a user: sequence number = user, as the paper's program sets them up.
void launch_init_states(curandStateXORWOW* states, std::int32_t n_users, std::uint64_t seed,
                        cudaStream_t stream);

}  // namespace mf::cu2rec
