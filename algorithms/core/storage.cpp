#include "algorithms/core/storage.hpp"

namespace mf {

ParamSpec storage_param() {
  return ParamSpec::choice("storage", Storage::fp16, kStorages,
                           "type of P and Q in memory; arithmetic is fp32");
}

ParamSpec rounding_param(Rounding fallback) {
  return ParamSpec::choice("rounding", fallback, kRoundings, "to fp16 and bf16");
}

Storage read_storage(const Params& params) { return params.choice("storage", kStorages); }

bool read_stochastic(const Params& params) {
  return params.choice("rounding", kRoundings) == Rounding::stochastic;
}

}  // namespace mf
