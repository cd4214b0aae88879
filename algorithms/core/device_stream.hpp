// The type of CUDA's streams, also without CUDA: cudaStream_t is a pointer to this.
#pragma once

struct CUstream_st;

namespace mf {
using DeviceStream = CUstream_st*;
}
