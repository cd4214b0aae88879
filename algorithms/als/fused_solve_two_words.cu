#include "algorithms/als/fused_launch.cuh"

namespace mf::als {

void solve_two_words(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  launch_words<true>(rule, side, stream);
}

}  // namespace mf::als
