// One pass on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/sgd_tiled/settings.hpp"
#include "algorithms/sgd_tiled/tiles.hpp"
#include "datasets/ratings/rating.hpp"

namespace mf::sgd_tiled {

// Everything in device memory. Rows of P and Q are storage_stride values of the storage
// type, zero beyond the factors, 16-byte aligned. The bias pointers are null for the plain model.
struct Arrays {
  std::int32_t factors;
  const Chunk* chunks;
  std::int64_t bundles;
  BundleRange range;         // of them in the order of the pass
  std::int64_t workers;      // groups of lanes at once, at most; whole blocks of threads, not none
  const RowRating* ratings;  // by user; `other` is the marked_item
  void* p;
  void* q;
  float* user_bias;
  float* item_bias;
  std::int64_t item_bias_stride;  // floats from one to the next
};

// Chunks of a bundle: the users that a warp works on at once, by the length of a row.
int bundle_size(const Settings& settings);

// Groups of lanes, a chunk each, that a pass by `workers` has at once.
std::int64_t groups_at_once(const Settings& settings, std::int64_t workers);

struct Pass {
  const Settings& settings;
  Arrays arrays;
  sgd::Step<float> step;
  Order order;          // of the bundles
  std::uint32_t seed;   // of the rounding
  std::uint32_t epoch;  // says which ratings of thinned items write
  cudaStream_t stream;
};
void launch_pass(const Pass& pass);

}  // namespace mf::sgd_tiled
