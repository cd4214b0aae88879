// One iteration on the device: who updates what, for each mapping and item rule.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/cu2rec/rule.hpp"
#include "algorithms/cu2rec/settings.hpp"

struct curandStateXORWOW;

namespace mf::cu2rec {

struct Entry {  // a rating in the row of its user
  std::int32_t item;
  float value;
};

struct Iteration {
  std::int64_t number;  // 1 for the first
  std::int32_t offset;  // stride_offset of it
};

// Everything in device memory. Rows of P and Q are row_stride(factors) floats, zero beyond the
// factors, 16-byte aligned. Where items are not swapped, q_to is q_from and so on.
struct Arrays {
  std::int32_t n_users = 0;
  std::int32_t n_items = 0;
  std::int32_t factors = 0;
  const std::int64_t* user_offsets = nullptr;
  const Entry* entries = nullptr;
  float* p = nullptr;
  float* user_bias = nullptr;
  const float* q_from = nullptr;
  float* q_to = nullptr;
  const float* item_bias_from = nullptr;
  float* item_bias_to = nullptr;
  curandStateXORWOW* states = nullptr;  // a user; null: draw_counter
  std::uint64_t seed = 0;
  std::int32_t* claimed_in = nullptr;  // an item: low 32 bits of the iteration that claimed it last
};

struct LaunchShape {
  ItemRule rule = ItemRule::first_writer;
  Mapping mapping = Mapping::thread;
  int threads_per_block = 32;
  int users_per_warp = 1;  // mapping warp
};

// Copies to constant memory, in stream order.
void set_hyper(const Hyper& hyper, cudaStream_t stream);

void launch_iteration(const LaunchShape& shape, const Arrays& arrays, const Iteration& iteration,
                      cudaStream_t stream);
// Reads the iteration from device memory when it runs: for captured launches.
void launch_iteration(const LaunchShape& shape, const Arrays& arrays, const Iteration* iteration,
                      cudaStream_t stream);

// schedule[k] = the k-th iteration from *next on; *next moves on by count. count <= 1024.
void launch_schedule(Iteration* schedule, int count, std::int64_t* next, std::int64_t stride,
                     std::int32_t n_users, cudaStream_t stream);

// A state a user: sequence number = user, as the paper's program sets them up.
void launch_init_states(curandStateXORWOW* states, std::int32_t n_users, std::uint64_t seed,
                        cudaStream_t stream);
std::size_t state_bytes();

}  // namespace mf::cu2rec
