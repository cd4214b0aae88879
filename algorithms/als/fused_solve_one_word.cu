#include "algorithms/als/fused_launch.cuh"

namespace mf::als {

void solve_one_word(const FusedRule& rule, const FusedSide& side, cudaStream_t stream) {
  launch_words<false>(rule, side, stream);
}

}  // namespace mf::als
