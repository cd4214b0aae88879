// sgd_tiled: name, parameters, limits.
#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_tiled/settings.hpp"

namespace mf::sgd_tiled {
namespace {

AlgorithmInfo tiled_info() {
  AlgorithmInfo info;
  info.name = "sgd_tiled";
  info.family = "sgd_tiled";
  info.summary = "SGD, a user's factors in registers over a chunk of its ratings, items from L2";
  info.paper = "mfbench";
  info.hardware = Hardware::cuda;
  info.params = params();
  info.memory = memory_need;
  info.supports = why_unsupported;
  return info;
}

const RegisterInfo kTiled(tiled_info());

}  // namespace
}  // namespace mf::sgd_tiled
