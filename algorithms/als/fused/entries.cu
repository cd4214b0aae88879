// 8 bytes of a rating read and 8 written, and one gathered if biases are removed.
#include "algorithms/als/fused/entries.hpp"

#include <cmath>

#include "algorithms/als/residual.cuh"
#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/walk_rows.cuh"

namespace mf::als {
namespace {

constexpr unsigned kAll = 0xffffffff;

struct EntryRatings {
  FusedEntry* entries;
  float scale;
  __device__ std::int32_t other(std::int64_t i) const { return entries[i].other; }
  __device__ void add(std::int64_t i, float change) {
    const std::uint32_t words = entries[i].rating;
    const float high = __half2float(__ushort_as_half(static_cast<unsigned short>(words)));
    const float low = __half2float(__ushort_as_half(static_cast<unsigned short>(words >> 16)));
    entries[i] = fused_entry(entries[i].other, high + low + scale * change);
  }
};

template <bool kOfUsers>
struct Entries : cuda::RowVisitor {
  DeviceResidual center;
  float scale = 1;
  FusedEntry* entries = nullptr;

  __device__ void operator()(std::int64_t row, std::int64_t i, RowRating rating) {
    entries[i] = fused_entry(rating.other, scale * residual_of<kOfUsers>(center, row, rating));
  }
};

template <bool kOfUsers>
struct Largest {
  DeviceResidual center;
  float* largest;
  float most = 0;  // of the row

  __device__ void operator()(std::int64_t row, std::int64_t, RowRating rating) {
    const float value = residual_of<kOfUsers>(center, row, rating);
    most = isnan(value) ? INFINITY : fmaxf(most, fabsf(value));
  }
  __device__ void end_row() {
    for (int lane = 16; lane > 0; lane /= 2) most = fmaxf(most, __shfl_xor_sync(kAll, most, lane));
    // Floats that are not negative are in the order of their bits.
    if (threadIdx.x % 32 == 0 && most > *largest) {
      atomicMax(reinterpret_cast<int*>(largest), __float_as_int(most));
    }
  }
};

template <bool kOfUsers>
void walk_entries(const cuda::RatingsOfRows& rows, const DeviceResidual& center, float scale,
                  FusedEntry* entries, cudaStream_t stream) {
  Entries<kOfUsers> visitor;
  visitor.center = center;
  visitor.scale = scale;
  visitor.entries = entries;
  cuda::walk_ratings(rows, visitor, "als_fused entries", stream);
}

}  // namespace

void make_entries(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                  float scale, FusedEntry* entries, cudaStream_t stream) {
  of_users ? walk_entries<true>(rows, center, scale, entries, stream)
           : walk_entries<false>(rows, center, scale, entries, stream);
}

void change_bias(FusedEntry* entries, std::int64_t nnz, float scale, const float* old_bias,
                 const float* bias, cudaStream_t stream) {
  change_ratings(EntryRatings{entries, scale}, nnz, old_bias, bias, stream);
}

float largest_rating(const cuda::RatingsOfRows& rows, bool of_users, const DeviceResidual& center,
                     cudaStream_t stream) {
  auto largest = cuda::zeros<float>(1, stream);
  constexpr const char* kName = "als_fused largest rating";
  if (of_users) {
    cuda::walk_ratings(rows, Largest<true>{center, largest.data()}, kName, stream);
  } else {
    cuda::walk_ratings(rows, Largest<false>{center, largest.data()}, kName, stream);
  }
  float found = 0;
  cuda::download(View<float>(&found, 1), largest.data(), stream);
  return found;
}

}  // namespace mf::als
