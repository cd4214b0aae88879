// A side of R with the plan of its rows, and the arguments of a batch's kernels and solvers: on one
// device, over several that gather, and over several that reduce.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/als/cumf/bias.hpp"
#include "algorithms/als/cumf/device_plan.hpp"
#include "algorithms/als/cumf/hermitian/hermitian.hpp"
#include "algorithms/als/cumf/settings.hpp"
#include "algorithms/als/cumf/solver/batch_solver.hpp"
#include "algorithms/core/cuda/memory.hpp"
#include "base/json/json.hpp"

namespace mf::als {

struct FormedSide {
  cuda::DeviceBuffer<std::int32_t> others;
  cuda::DeviceBuffer<float> values;
  SidePlan plan;

  // Leaves the targets of A, its scale and its parts empty. theta: rows of row_stride floats.
  HermitianArgs hermitian(const AlsSettings& settings, const RowBatch& batch,
                          const float* theta) const;
  // Leaves the targets of b and its parts empty.
  BiasArgs bias(const AlsSettings& settings, const RowBatch& batch, const float* theta) const;

  Json facts() const;
};

// For rows of X or Theta: floats from one to the next.
std::int64_t factor_stride(const AlsSettings& settings);

// Matrices and vectors that `rows` systems are formed in; only fp16 has the scale.
struct SystemBuffers {
  SystemBuffers() = default;
  SystemBuffers(const AlsSettings& settings, AStorage as, std::int64_t rows);

  // The first `count` of them, of the rows rows[0], ... of x.
  Systems of(const AlsSettings& settings, std::int64_t count, const std::int32_t* rows, float* x);

  AStorage storage = AStorage::fp32;
  cuda::DeviceBuffer<std::byte> a;
  cuda::DeviceBuffer<float> scale, b;
};
// And their parts, as many as a batch of either side has at most.
struct PartBuffers {
  PartBuffers() = default;
  PartBuffers(const AlsSettings& settings, const SidePlan& users, const SidePlan& items);

  cuda::DeviceBuffer<float> a, b;
};

// For systems in `buffers`, at most `most` at once.
std::unique_ptr<BatchSolver> make_solver(const AlsSettings& settings, SystemBuffers& buffers,
                                         std::int64_t most, bool cg_through_l1,
                                         cudaStream_t stream);

}  // namespace mf::als
