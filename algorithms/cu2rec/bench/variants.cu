#include "algorithms/cu2rec/bench/variants.hpp"

#include "algorithms/core/cuda/launch.hpp"
#include "algorithms/cu2rec/turn.cuh"

namespace mf::cu2rec {
namespace {

constexpr ItemRule kRule = ItemRule::first_writer;

__constant__ sgd::Step<float> variant_step;

template <int kRegisters>
__global__ void __maxnreg__(kRegisters)
    few_registers_kernel(const Arrays a, const IterationSource source) {
  thread_turn<kRule>(a, source, variant_step);
}

__global__ void __launch_bounds__(1024)
    global_step_kernel(const Arrays a, const IterationSource source, const sgd::Step<float>* step) {
  thread_turn<kRule>(a, source, *step);
}

}  // namespace

void launch_variant(Variant variant, const Settings& settings, const Arrays& arrays,
                    const IterationSource& source, const sgd::Step<float>* step,
                    cudaStream_t stream) {
  const int threads = settings.threads_per_block;
  const auto blocks = cuda::blocks_for(arrays.n_users, threads);
  switch (variant) {
    case Variant::registers_32:
      few_registers_kernel<32><<<blocks, threads, 0, stream>>>(arrays, source);
      break;
    case Variant::registers_24:
      few_registers_kernel<24><<<blocks, threads, 0, stream>>>(arrays, source);
      break;
    case Variant::global_step:
      global_step_kernel<<<blocks, threads, 0, stream>>>(arrays, source, step);
      break;
  }
  MF_CUDA_LAUNCHED("cu2rec variant");
}

void set_variant_step(const sgd::Step<float>& step, cudaStream_t stream) {
  MF_CUDA(cudaMemcpyToSymbolAsync(variant_step, &step, sizeof(step), 0, cudaMemcpyHostToDevice,
                                  stream));
}

}  // namespace mf::cu2rec
