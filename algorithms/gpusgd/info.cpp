// gpusgd and newgpusgd: names, parameters, limits and paper.
#include "algorithms/core/registry.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {
namespace {

AlgorithmInfo family_info(Scheme scheme, const std::string& summary, const std::string& paper) {
  AlgorithmInfo info;
  info.name = scheme_name(scheme);
  info.family = "gpusgd";
  info.summary = summary;
  info.paper = paper;
  info.hardware = Hardware::cuda;
  info.deterministic = true;
  info.params = family_params(scheme);
  info.memory = [scheme](const Params& params, const ProblemShape& shape) {
    return memory_need(scheme, params, shape);
  };
  return info;
}

const char* const kPaper =
    "\"A New Approach of GPU-Accelerated Stochastic Gradient Descent Method for Matrix "
    "Factorization\" (NewGPUSGD)";

const RegisterInfo kGrouped(
    family_info(Scheme::grouped, "SGD on diagonals of square blocks; in a block a thread a rating",
                std::string("GPUSGD, as described in ") + kPaper));
const RegisterInfo kTree(family_info(
    Scheme::tree, "SGD on diagonals of blocks; in a block one rating at a time, a thread a factor",
    kPaper));

}  // namespace
}  // namespace mf::gpusgd
