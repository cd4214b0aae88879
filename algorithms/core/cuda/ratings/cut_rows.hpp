// The parts of rows, made on the device as plan_fused (als/test/plan_fused.hpp) makes them on the
// host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/ranks/row_parts.hpp"

namespace mf::cuda {

struct DeviceParts {
  DeviceBuffer<RowPart> parts;  // by part_order(), equal ones by row; also rows without ratings
  std::int32_t slots = 0;       // of all rows that are cut
};

// offsets: rows + 1, on the device. Whole rows of at most `last_up_to` ratings come last. Waits for
// the stream. Throws Error(unsupported) if rows are cut into 2^31 parts or more.
DeviceParts cut_rows(const std::int64_t* offsets, std::int64_t rows, std::int64_t longest,
                     cudaStream_t stream, std::int64_t last_up_to = -1);

}  // namespace mf::cuda
