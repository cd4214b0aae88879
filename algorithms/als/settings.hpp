// The parameters that the ALS algorithms share, resolved, and the work of an iteration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/params.hpp"

namespace mf::als {

// What is removed from the ratings before they are factorised; the model is then the biased one.
enum class CenterKind { none, mean, biases };
enum class Solver { lu, cholesky, cg };

struct CgRule {
  int steps = 6;            // f_s, at most
  double tolerance = 1e-4;  // ends when the norm of the residual is below it
};

struct Common {
  std::int32_t factors = 100;
  double reg = 0.05;  // lambda; a row of n ratings is shrunk by lambda * n
  CenterKind center = CenterKind::none;
  CgRule cg;
};

constexpr std::int64_t kMaxFactors = 256;

// factors, reg, center, cg_steps, cg_tolerance.
std::vector<ParamSpec> common_params();
Common read_common(const Params& params);

ParamSpec solver_param(const std::string& fallback);  // lu, cholesky, cg
Solver read_solver(const Params& params);

// Compulsory work of an iteration (X, then Theta); README.md derives it. Each half-step visits
// every rating, so `updates` is twice their number.
Work iteration_work(const Common& common, Solver solver, const Ratings& train);

}  // namespace mf::als
