#include "algorithms/als/hermitian.cuh"

namespace mf::als {

void launch_coalesced(const HermitianArgs& args, HermitianPart part, cudaStream_t stream) {
  launch_load<Load::coalesced>(args, part, stream);
}

}  // namespace mf::als
