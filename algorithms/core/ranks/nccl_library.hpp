// NCCL's library as it is found and loaded, when it is asked for.
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

// What NCCL is to find in the environment unless the user has said otherwise: NCCL_NVLS_ENABLE 0.
// Called before there are other threads, which may read the environment meanwhile.
void set_nccl_defaults();

}  // namespace mf
