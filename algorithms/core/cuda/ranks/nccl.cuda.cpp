#include "algorithms/core/cuda/ranks/nccl.hpp"

#include <cstddef>
#include <vector>

#include "base/error.hpp"

#ifdef MF_HAVE_NCCL
#include "algorithms/core/cuda/ranks/nccl_functions.hpp"
#include "algorithms/core/ranks/nccl_library.hpp"
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
void take(void* address, Function& function) {
  function = reinterpret_cast<Function>(address);
}

Loaded load() {
  std::vector<const char*> names;
#define MF_NAME(function) names.push_back(#function)
  MF_NCCL_FUNCTIONS(MF_NAME);
#undef MF_NAME
  Loaded loaded;
  const LoadedFunctions found = load_nccl(names);
  loaded.why = found.why;
  if (!loaded.why.empty()) return loaded;
  std::size_t next = 0;
#define MF_TAKE(function) take(found.addresses[next++], loaded.functions.function)
  MF_NCCL_FUNCTIONS(MF_TAKE);
#undef MF_TAKE
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
