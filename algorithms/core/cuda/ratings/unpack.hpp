// Packed ratings, from the pinned memory of the host, or a copy of it, to the form that kernels
// read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/view.hpp"
#include "datasets/ratings/packed/packed_form.hpp"

namespace mf::cuda {

// The ratings [skip, count) of `words`, which begin with a block, at a multiple of 16 bytes, of
// which all of the last are there: memory that the device can read, pinned. Queued.
void unpack_ratings(const PackedForm& form, View<const float> table, const std::uint64_t* words,
                    std::int64_t skip, std::int64_t count, RowRating* to, cudaStream_t stream);

}  // namespace mf::cuda
