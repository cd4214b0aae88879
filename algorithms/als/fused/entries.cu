// A warp a row: 8 bytes of a rating read and 8 written, and where biases are removed one gathered.
#include "algorithms/als/fused/entries.hpp"

#include <cmath>

#include "algorithms/als/residual.cuh"
#include "algorithms/core/cuda/walk_rows.cuh"

namespace mf::als {
namespace {

constexpr unsigned kAll = 0xffffffff;

template <bool kOfUsers>
struct Entries {
  DeviceResidual center;
  FusedEntry* entries;
  float* largest;
  float most = 0;  // of the row

  __device__ void operator()(std::int64_t row, std::int64_t i, RowRating rating) {
    const float value = residual_of<kOfUsers>(center, row, rating);
    most = isnan(value) ? INFINITY : fmaxf(most, fabsf(value));
    entries[i] = fused_entry(rating.other, value);
  }
  __device__ void end_row() {
    for (int lane = 16; lane > 0; lane /= 2) most = fmaxf(most, __shfl_xor_sync(kAll, most, lane));
    // Floats that are not negative are in the order of their bits.
    if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<int*>(largest), __float_as_int(most));
  }
};

template <bool kOfUsers>
void walk(const cuda::RatingsOfRows& rows, const DeviceResidual& center, FusedEntry* entries,
          float* largest, cudaStream_t stream) {
  cuda::walk_ratings(rows, Entries<kOfUsers>{center, entries, largest}, "als_fused entries",
                     stream);
}

}  // namespace

void make_entries(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                  FusedEntry* entries, float* largest, cudaStream_t stream) {
  of_users ? walk<true>(rows, center, entries, largest, stream)
           : walk<false>(rows, center, entries, largest, stream);
}

}  // namespace mf::als
