// One side of R on the device: pairs by rows, and the rows' factors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ratings/make_columns.hpp"
#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/ials/device_pairs.hpp"

namespace mf::ials {

struct DeviceSide {
  std::int64_t rows = 0;
  std::int64_t empty_rows = 0;
  cuda::DeviceBuffer<std::int64_t> offsets;
  cuda::DeviceBuffer<std::int32_t> others;
  cuda::DeviceBuffer<float> weights;
  cuda::DeviceBuffer<float> factors;  // rows of row_stride(f), zero beyond the factors

  DeviceSide() = default;
  // For pairs, which may end then. Waits for the stream.
  DeviceSide(const cuda::RatingsOfRows& pairs, double alpha, cudaStream_t stream)
      : rows(pairs.rows), offsets(pairs.rows + 1) {
    als::SplitSide made = split_pairs(pairs, alpha, stream);
    others = std::move(made.others);
    weights = std::move(made.values);
    MF_CUDA(cudaMemcpyAsync(offsets.data(), pairs.offsets, offsets.bytes(),
                            cudaMemcpyDeviceToDevice, stream));
    empty_rows = rows - cuda::count_rated_rows(pairs.offsets, rows, stream);
  }

  // The first factors; rows without pairs are zero, which is their solution. Queued.
  void start(const Model& initial, cuda::RowsOf which, cuda::Uploader& uploader) {
    const std::int64_t stride = row_stride(initial.factors, sizeof(float));
    factors = cuda::initial_rows<float>(initial, which, stride, uploader);
    cuda::zero_empty_rows(offsets.data(), rows, factors.data(), stride, uploader.stream());
  }
};

}  // namespace mf::ials
