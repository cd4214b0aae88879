// Finds and loads NCCL's library on request.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mf {

struct LoadedFunctions {
  std::vector<void*> addresses;  // in the order of their names
  std::string why;               // they cannot be used; else empty
};

// From the library that MFBENCH_NCCL names, else libnccl.so.2. It stays loaded.
LoadedFunctions load_nccl(std::span<const char* const> names);

// Sets NCCL_NVLS_ENABLE to 0 and NCCL_P2P_DIRECT_DISABLE to 1 in the environment unless the user
// has set them. Call it before other threads start, which may read the environment.
void set_nccl_defaults();

}  // namespace mf
