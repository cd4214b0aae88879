#include "algorithms/core/cuda/nccl.hpp"

#include <cstdlib>

#include "base/error.hpp"

#ifdef MF_HAVE_NCCL
#include <dlfcn.h>

#include "algorithms/core/cuda/nccl_functions.hpp"
#endif

namespace mf::cuda {

#ifndef MF_HAVE_NCCL

std::string nccl_version(std::string* why) {
  if (why != nullptr) *why = "this build has no NCCL (install libnccl-dev, rebuild)";
  return "";
}

#else

namespace {

struct Loaded {
  NcclFunctions functions;
  std::string why;  // it cannot be used; else empty
};

template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

Loaded load() {
  Loaded loaded;
  const char* named = std::getenv("MFBENCH_NCCL");
  const char* name = named != nullptr && *named != '\0' ? named : "libnccl.so.2";
  // NVLink multicast (NVLS) takes resources of the switch that all its users share.
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* cause = ::dlerror();
    loaded.why = fmt::format(
        "NCCL cannot be loaded: {}; install libnccl2, or name the library in MFBENCH_NCCL",
        cause != nullptr ? cause : name);
    return loaded;
  }
  std::string missing;
#define MF_FIND(function) find(library, #function, loaded.functions.function, missing)
  MF_NCCL_FUNCTIONS(MF_FIND);
#undef MF_FIND
  if (!missing.empty()) {
    loaded.why = fmt::format("NCCL cannot be used: found no {} in {}, expected NCCL 2.14 or newer",
                             missing, name);
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const NcclFunctions& nccl() {
  if (!loaded().why.empty()) throw Error(ErrorKind::unsupported, loaded().why);
  return loaded().functions;
}

std::string nccl_version(std::string* why) {
  if (!loaded().why.empty()) {
    if (why != nullptr) *why = loaded().why;
    return "";
  }
  int version = 0;
  loaded().functions.ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

#endif

}  // namespace mf::cuda
