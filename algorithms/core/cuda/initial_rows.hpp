// The first factors, in device memory: made there by the model's rule, or uploaded.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/model.hpp"
#include "algorithms/core/ranks/row_cuts.hpp"

namespace mf::cuda {

enum class RowsOf { users, items };

// rows x stride numbers, zero beyond the factors. Real is float or double.
// Bit for bit as by make_rows(). Queued.
template <class Real>
DeviceBuffer<Real> initial_rows(const Model& initial, RowsOf side, std::int64_t stride,
                                Uploader& uploader);
// Only some of them.
template <class Real>
DeviceBuffer<Real> initial_rows(const Model& initial, RowsOf side, RowRange rows,
                                std::int64_t stride, Uploader& uploader);
// The same into given memory.
void make_initial_rows(const Model& initial, RowsOf side, RowRange rows, std::int64_t stride,
                       Uploader& uploader, float* out);

// Rows without ratings are zero, which is their solution if each row is solved for. offsets: of
// `count` rows, in device memory. Queued.
void zero_empty_rows(const std::int64_t* offsets, std::int64_t count, float* rows,
                     std::int64_t stride, cudaStream_t stream);

}  // namespace mf::cuda
