// sgd_atomic, ebltg and ebgtg: names, parameters, limits and paper.
#include "algorithms/core/registry.hpp"
#include "algorithms/cu2rec/settings.hpp"

namespace mf::cu2rec {
namespace {

AlgorithmInfo family_info(const std::string& name, const std::string& summary,
                          Buffering buffering = Buffering::swap) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "cu2rec";
  info.summary = summary;
  info.paper =
      "N. Greenquist, D. Kilitcioglu, \"GPU Accelerated Matrix Factorization for Recommender "
      "Systems\" (cu2rec)";
  info.hardware = Hardware::cuda;
  info.params = family_params(buffering);
  info.supports = why_unsupported;
  info.memory = memory_need;
  info.updates_per_epoch = [](const ProblemShape& shape) {
    return static_cast<double>(shape.n_users);
  };
  return info;
}

const RegisterInfo kAtomic(family_info("sgd_atomic",
                                       "SGD, a random rating a user and iteration; item gradients "
                                       "added by atomicAdd",
                                       Buffering::in_place));
const RegisterInfo kLastWriter(
    family_info("ebltg", "early bird loses the gradient: the last user to write an item wins"));
const RegisterInfo kFirstWriter(
    family_info("ebgtg", "early bird gets the gradient: the first user to claim an item writes"));

}  // namespace
}  // namespace mf::cu2rec
