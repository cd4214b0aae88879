#include "algorithms/als/settings.hpp"

#include <fmt/core.h>

#include "algorithms/core/sgd/sgd_params.hpp"

namespace mf::als {
namespace {

// Operations of one row's solver, as README.md counts them.
double solver_flops(const Common& common, Solver solver) {
  const double f = common.factors;
  if (solver == Solver::lu) return 2.0 / 3 * f * f * f + 2 * f * f;
  if (solver == Solver::cholesky) return 1.0 / 3 * f * f * f + 2 * f * f;
  return 2 * f * f + 3 * f + common.cg.steps * (2 * f * f + 10 * f);
}

}  // namespace

std::vector<ParamSpec> common_params(std::int64_t max_factors) {
  return {
      ParamSpec::integer("factors", 100, 1, max_factors, "length f of the rows of X and Theta"),
      ParamSpec::number("reg", 0.05, 0, 1e6,
                        "lambda: a row of n ratings is shrunk by lambda n^reg_power"),
      ParamSpec::number("reg_power", 1, 0, 2,
                        "1: weighted lambda (the paper's); 0: the same for every row")
          .silent(),
      ParamSpec::choice("first", FirstSide::users, kFirstSides,
                        "whose rows an epoch solves first; the others' come last")
          .silent(),
      ParamSpec::choice(
          "center", CenterKind::none, kCenterKinds,
          "removed before: nothing (p.q, the paper's), mu, or mu + b_u + c_i; solved: mu, "
          "and b_u and c_i are solved for with p_u and q_i"),
      ParamSpec::integer("cg_steps", 6, 1, 1000, "steps of the solver cg at most, f_s", "steps"),
      ParamSpec::number("cg_tolerance", 1e-4, 0, 1e6,
                        "cg ends when the norm of the residual b - A x is below it")};
}

Common read_common(const Params& params) {
  const CenterKind center = params.choice("center", kCenterKinds);
  const std::int64_t unknowns = params.integer("factors") + (center == CenterKind::solved ? 1 : 0);
  return {static_cast<std::int32_t>(unknowns),
          params.number("reg"),
          center,
          {static_cast<int>(params.integer("cg_steps")), params.number("cg_tolerance")},
          params.number("reg_power"),
          params.choice("first", kFirstSides)};
}

ParamSpec solver_param(Solver fallback) {
  return ParamSpec::choice("solver", fallback, kSolvers,
                           "how A_u x_u = b_u is solved: LU, Cholesky, or cg_steps of CG");
}

Solver read_solver(const Params& params) { return params.choice("solver", kSolvers); }

double row_cost(const Common& common, Solver solver) {
  const double factors = common.factors;
  if (solver == Solver::cholesky) return factors / 3;
  if (solver == Solver::lu) return 2 * factors / 3;
  return 2.0 * common.cg.steps;
}

std::optional<std::string> why_too_long(const Params& params, std::int64_t max_factors) {
  if (read_common(params).factors <= max_factors) return std::nullopt;
  return fmt::format(
      "center \"solved\" with {0} factors: a row has at most {0} unknowns, and its bias is one of "
      "them; use {1} factors or fewer, or center \"biases\"",
      max_factors, max_factors - 1);
}

std::optional<std::string> why_singular(const Params& params) {
  if (params.number("reg") > 0 || read_solver(params) == Solver::cg) return std::nullopt;
  return "reg 0 with solver \"" + params.choice("solver") +
         "\": rows with fewer ratings than factors have no unique solution; use reg above 0, or "
         "solver \"cg\"";
}

Work iteration_work(const Common& common, Solver solver, std::int64_t nnz,
                    std::int64_t rated_rows) {
  const double f = common.factors;
  const double visits = 2.0 * static_cast<double>(nnz);
  const auto rows = static_cast<double>(rated_rows);
  const double passes = solver == Solver::cg ? 3 : 2;  // CG also reads the row it starts from
  Work work;
  work.updates = visits;
  work.bytes = 8 * visits + (8 + passes * 4 * f) * rows;
  work.flops = visits * (f * (f + 1) + 2 * f) + rows * (f + solver_flops(common, solver));
  return work;
}

}  // namespace mf::als
