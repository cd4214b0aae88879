// Shared by the algorithms of this family: resolved parameters, description, work of an iteration.
// Each room has its own parameters and AlgorithmInfo in its settings.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/als/cg.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/implicit.hpp"
#include "algorithms/core/params.hpp"

namespace mf::ials {

enum class Solver { cholesky, cg };
inline constexpr Names kSolvers{
    std::to_array<Named<Solver>>({{"cholesky", Solver::cholesky}, {"cg", Solver::cg}})};

struct Common {
  std::int32_t factors;
  ImplicitLoss loss;
  als::CgRule cg;  // tolerance 0: all steps, unless the residual is zero
};

constexpr std::int64_t kMaxFactors = 2048;

// factors (64), alpha (1), reg (0.01): of every algorithm.
std::vector<ParamSpec> common_params(std::int64_t max_factors = kMaxFactors);
ParamSpec reg_exponent_param();         // 0; if it is supported
ParamSpec popularity_exponent_param();  // 0; likewise
ParamSpec cg_steps_param();             // 3; if CG is
ParamSpec solver_param(Solver fallback);

// Undeclared parameters are 0: reg_exponent, popularity_exponent, cg_steps.
Common read_common(const Params& params);
ImplicitLoss read_loss(const Params& params);
Solver read_solver(const Params& params);

// family, loss, deterministic, no learning rate, two visits of every pair an epoch. The rest is the
// room's.
AlgorithmInfo shared_info(const std::string& name);

// How A_u comes into a solver: `formed` from the row's pairs, or `applied` to vectors (only CG).
enum class Normal { formed, applied };

// Compulsory work of an iteration (X, then Y); NOTES.md derives it. Each half-step visits every
// observed pair, so `updates` is twice their number.
// `filled`: users and items with at least one of the pairs.
Work iteration_work(const Common& common, Solver solver, Normal normal, std::int64_t pairs,
                    std::int64_t filled);

}  // namespace mf::ials
