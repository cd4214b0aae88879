// get_hermitian with weights, for all layouts: rows of Theta are multiplied by the root of their
// weight on their way to shared memory. A separate source, as it takes long to compile.
#include "algorithms/als/cumf/hermitian/hermitian_launch.cuh"

namespace mf::als {

void launch_weighted(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  launch_layouts<Load::noncoalesced_l1, true>(args, part, stream);
}

}  // namespace mf::als
