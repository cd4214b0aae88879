#include "algorithms/als/hermitian.cuh"

namespace mf::als {

void launch_noncoalesced_l1(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  launch_load<Load::noncoalesced_l1>(args, part, stream);
}

}  // namespace mf::als
