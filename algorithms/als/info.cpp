// The ALS algorithms: names, parameters, limits and papers.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/als/cumf/settings.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/ranks/ranked.hpp"
#include "algorithms/core/ranks/ranks.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::als {
namespace {

struct Described {
  const char* name;
  std::vector<std::string> phases;
  const char* summary;
  const char* paper;
};

AlgorithmInfo info_of(const Described& said, std::vector<ParamSpec> params,
                      decltype(AlgorithmInfo::supports) supports,
                      decltype(AlgorithmInfo::memory) memory) {
  AlgorithmInfo info;
  info.name = said.name;
  info.family = "als";
  info.title = "ALS";
  info.summary = said.summary;
  info.paper = said.paper;
  info.method = Method::als;
  info.phases = said.phases;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.params = std::move(params);
  info.supports = std::move(supports);
  info.memory = std::move(memory);
  return info;
}

AlgorithmInfo on_device(AlgorithmInfo info, int min_compute = 0) {
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.min_compute = min_compute;
  return info;
}

AlgorithmInfo on_cpu(AlgorithmInfo info) {
  info.ranks = std::make_shared<const RankInfo>(RankInfo{.factors_on_all = true});
  return info;
}

// No paper has these. They never end behind `bias` on ml-100k, ml-1m and filmtrust
// (tests/test_defaults.py).
const std::map<std::string, ParamValue> kDefaults = {
    {"center", "biases"}, {"reg", 1.5}, {"reg_power", 0.5}};

constexpr int kAmpere = 80;  // cp.async, mma.m16n8k16, redux

const RegisterInfo kCpu(on_cpu(info_of(
    {"als_cpu",
     {"update_x", "update_theta", "wait_ranks", "exchange"},
     "ALS with weighted lambda on the CPU: all rows of X, then of Theta, solved in turn",
     "Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan, \"Large-Scale Parallel Collaborative "
     "Filtering for the Netflix Prize\", AAIM 2008; solver cg: W. Tan et al., \"Matrix "
     "Factorization on GPUs with Memory Optimization and Approximate Computing\", ICPP 2018"},
    with_defaults(join_params(common_params(),
                              {solver_param(Solver::cholesky), threads_param(), ranks_param()}),
                  kDefaults),
    [](const Params& params, const ProblemShape&) {
      const auto why = why_too_long(params, kMaxFactors);
      return why ? why : why_singular(params);
    },
    [](const Params&) { return MemoryUse{.host = {.rating = 12, .number = 8, .row = 16}}; })));
const RegisterInfo kAls(on_device(info_of(
    {"als",
     {"hermitian", "bias", "exchange", "solve"},
     "ALS on a GPU: A_u in register tiles, then batched LU, Cholesky or approximate CG",
     "W. Tan et al., \"Matrix Factorization on GPUs with Memory Optimization and Approximate "
     "Computing\" (cuMF_ALS)"},
    als_params(), als_why_unsupported, als_memory)));
const RegisterInfo kFused(on_device(
    info_of({"als_fused",
             {"sides", "update_x", "update_theta", "exchange"},
             "ALS in one kernel: A_u formed on tensor cores and CG on it, never in memory",
             "mfbench"},
            with_defaults(fused_params(), kDefaults), fused_why_unsupported, fused_memory),
    kAmpere));

}  // namespace
}  // namespace mf::als
