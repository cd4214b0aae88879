// thread_kernel of ebgtg with fewer registers (CUDA 12.4 or newer), and with its step in global
// memory.
#pragma once

#include <cuda_runtime_api.h>

#include "algorithms/cu2rec/kernels.hpp"

namespace mf::cu2rec {

enum class Variant {
  registers_32,  // instead of the 42 that it takes on sm_90: the rest goes to local memory
  registers_24,
  global_step,  // the step of SGD (rate, mean, regularizers) not in constant memory
};

// global_step reads `step` in device memory; the others read the step of set_variant_step. A thread
// a user, settings.threads_per_block threads a block.
void launch_variant(Variant variant, const Settings& settings, const Arrays& arrays,
                    const IterationSource& source, const sgd::Step<float>* step,
                    cudaStream_t stream);

void set_variant_step(const sgd::Step<float>& step, cudaStream_t stream);

}  // namespace mf::cu2rec
