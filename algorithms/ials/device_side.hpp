// One side of R on the device: pairs by rows, and the rows' factors.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/cumf/batch_solver.hpp"
#include "algorithms/als/side.hpp"
#include "algorithms/core/cuda/upload.hpp"
#include "algorithms/core/rows.hpp"

namespace mf::ials {

struct DeviceSide {
  std::int64_t rows = 0;
  std::int64_t empty_rows = 0;
  cuda::DeviceBuffer<std::int64_t> offsets;
  cuda::DeviceBuffer<std::int32_t> others;
  cuda::DeviceBuffer<float> weights;
  cuda::DeviceBuffer<float> factors;  // rows of row_stride(f), zero beyond the factors

  DeviceSide() = default;
  // `packed`: the rows' initial factors. Rows without pairs are zero, which is their solution.
  // Waits for the stream.
  DeviceSide(const als::Side& side, View<const float> packed, std::int32_t width,
             cuda::Uploader& uploader)
      : rows(side.rows()),
        offsets(uploader.array(side.offsets)),
        others(uploader.array(side.others)),
        weights(uploader.array(side.values)),
        factors(uploader.rows(packed, width, row_stride(width, sizeof(float)))) {
    std::vector<std::int32_t> empty;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (side.length(row) == 0) empty.push_back(static_cast<std::int32_t>(row));
    }
    empty_rows = std::ssize(empty);
    const auto list = uploader.array(View<const std::int32_t>(empty));
    als::launch_zero_rows(factors.data(), row_stride(width, sizeof(float)), list.data(), empty_rows,
                          uploader.stream());
    MF_CUDA(cudaStreamSynchronize(uploader.stream()));  // `list` ends here
  }
};

}  // namespace mf::ials
