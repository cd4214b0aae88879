#include "algorithms/core/ranks/nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.hpp"

namespace mf {

LoadedFunctions load_nccl(std::span<const char* const> names) {
  LoadedFunctions loaded;
  const char* named = std::getenv("MFBENCH_NCCL");
  const char* path = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* cause = ::dlerror();
    loaded.why = fmt::format(
        "NCCL cannot be loaded: {}; install libnccl2, or name the library in MFBENCH_NCCL",
        cause != nullptr ? cause : path);
    return loaded;
  }
  for (const char* name : names) {
    loaded.addresses.push_back(::dlsym(library, name));
    if (loaded.addresses.back() != nullptr || !loaded.why.empty()) continue;
    loaded.why = fmt::format("NCCL cannot be used: found no {} in {}, expected NCCL 2.14 or newer",
                             name, path);
  }
  return loaded;
}

// NVLink multicast (NVLS) takes resources of the switch that all its users share. NCCL would read
// buffers of another rank of the process directly, and memory of a device's pool is not mapped on
// others.
void set_nccl_defaults() {
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  ::setenv("NCCL_P2P_DIRECT_DISABLE", "1", 0);
}

}  // namespace mf
