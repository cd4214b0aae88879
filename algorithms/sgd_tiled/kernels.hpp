// One pass on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/sgd_tiled/settings.hpp"
#include "algorithms/sgd_tiled/tiles.hpp"

namespace mf::sgd_tiled {

struct Entry {        // a rating in the row of its user
  std::int32_t item;  // marked_item of it
  float value;
};

// Constants of a pass.
struct Step {
  float rate;
  float mean;
  Keeps keep;
};

// Everything in device memory. Rows of P and Q are storage_stride values of the storage
// type, zero beyond the factors, 16-byte aligned. The bias pointers are null for the plain model.
struct Arrays {
  std::int32_t factors = 0;
  const Chunk* chunks = nullptr;
  std::int64_t bundles = 0;
  std::int64_t workers =
      1;  // groups of lanes at once, at most; whole blocks of threads, at least one
  const Entry* entries = nullptr;
  void* p = nullptr;
  void* q = nullptr;
  float* user_bias = nullptr;
  float* item_bias = nullptr;
};

// Chunks of a bundle: the users that a warp works on at once, by the length of a row.
int bundle_size(const Settings& settings);

// Queues the pass; `order` shuffles the bundles, `seed` the rounding; `epoch` says which ratings of
// thinned items write.
void launch_pass(const Settings& settings, const Arrays& arrays, const Step& step,
                 const Order& order, std::uint32_t seed, std::uint32_t epoch, cudaStream_t stream);

// to = from with the ratings of each user in a random order of its own.
void launch_shuffle(const Entry* from, Entry* to, const std::int64_t* user_offsets,
                    std::int32_t n_users, std::uint64_t seed, cudaStream_t stream);

}  // namespace mf::sgd_tiled
