#include "algorithms/core/storage.hpp"

#include <utility>

namespace mf {

ParamSpec storage_param() {
  return ParamSpec::choice("storage", "fp16", {"fp32", "fp16", "bf16"},
                           "of P and Q in memory; arithmetic is fp32");
}

ParamSpec rounding_param(std::string default_kind) {
  return ParamSpec::choice("rounding", std::move(default_kind), {"nearest", "stochastic"},
                           "to fp16 and bf16");
}

Storage read_storage(const Params& params) {
  const std::string& name = params.choice("storage");
  if (name == "fp32") return Storage::fp32;
  return name == "fp16" ? Storage::fp16 : Storage::bf16;
}

bool read_stochastic(const Params& params) { return params.choice("rounding") == "stochastic"; }

}  // namespace mf
