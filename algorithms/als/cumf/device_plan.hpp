// The plan of a side, made on the device; batches are the host's, which launches them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "algorithms/als/cumf/plan.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::als {

// Rows by length, before their batches are known.
struct RowOrder {
  cuda::DeviceBuffer<std::int32_t> rows;  // longest first, then by index; rows without ratings last
  std::int64_t rated = 0;                 // rows that have ratings
  std::vector<std::int64_t> split;        // numbers of parts of the first rows, which are cut
  std::int64_t parts = 0;                 // of all of these
};

// offsets: of `rows` rows, in device memory. Waits for the stream.
RowOrder order_rows(const std::int64_t* offsets, std::int64_t rows, std::int64_t split_rows,
                    cudaStream_t stream);

struct SidePlan {
  cuda::DeviceBuffer<std::int32_t> order;
  cuda::DeviceBuffer<RowTask> tasks, bias_tasks;  // of a batch the longest first
  cuda::DeviceBuffer<SplitRow> splits, bias_splits;
  std::vector<RowBatch> batches;
  std::int64_t rated = 0;      // rows of `order` that are in batches
  std::int64_t most_rows = 0;  // of a batch
  std::int64_t most_parts = 0;
  std::int64_t most_bias_parts = 0;
};

// Waits for the stream. Fails (std::logic_error) if the rule cannot be kept.
SidePlan make_side_plan(const std::int64_t* offsets, RowOrder order, const PlanRule& rule,
                        cudaStream_t stream);

// For these rows, in this order: row order[i] is in batch b,
// begins[b] <= i < begins[b + 1], at slot i - begins[b]. Rows without ratings are tasks of none,
// whose A and b are zero. Waits for the stream.
SidePlan make_side_plan(const std::int64_t* offsets, cuda::DeviceBuffer<std::int32_t> order,
                        const std::vector<std::int64_t>& begins, std::int64_t split_rows,
                        cudaStream_t stream);

}  // namespace mf::als
