// The functions of NCCL that are used. Only for builds that have its header.
#pragma once

#include <nccl.h>

#include "base/error.hpp"

namespace mf::cuda {

#define MF_NCCL_FUNCTIONS(use) \
  use(ncclGetVersion);         \
  use(ncclGetUniqueId);        \
  use(ncclCommInitRankConfig); \
  use(ncclCommGetAsyncError);  \
  use(ncclCommAbort);          \
  use(ncclGetErrorString);     \
  use(ncclGroupStart);         \
  use(ncclGroupEnd);           \
  use(ncclSend);               \
  use(ncclRecv);               \
  use(ncclAllReduce)

struct NcclFunctions {
#define MF_DECLARE(name) decltype(&::name) name = nullptr
  MF_NCCL_FUNCTIONS(MF_DECLARE);
#undef MF_DECLARE
};

// Throws Error(unsupported), each time, if the library cannot be loaded.
const NcclFunctions& nccl();

}  // namespace mf::cuda
