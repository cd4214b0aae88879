#include "algorithms/ials/settings.hpp"

namespace mf::ials {
namespace {

// Operations of one row beyond its pairs, as README.md counts them.
double row_flops(const Common& common, Solver solver, Normal normal) {
  const double f = common.factors;
  const double sum_with_gram = normal == Normal::formed ? f * (f + 1) / 2 + f : 0;
  if (solver == Solver::cholesky) return sum_with_gram + f * f * f / 3 + 2 * f * f;
  return sum_with_gram + (common.cg.steps + 1) * 2 * f * f + common.cg.steps * 10 * f;
}

double pair_flops(const Common& common, Normal normal) {
  const double f = common.factors;
  return normal == Normal::formed ? f * (f + 1) + 2 * f : (common.cg.steps + 1) * 4 * f;
}

}  // namespace

std::vector<ParamSpec> common_params(std::int64_t max_factors) {
  return {ParamSpec::integer("factors", 64, 1, max_factors, "length f of the rows of X and Y"),
          ParamSpec::number("alpha", 1, 1e-6, 1e6, "confidence of an observed pair: 1 + alpha r"),
          ParamSpec::number("reg", 0.01, 0, 1e6, "lambda of every row, observed pairs or not")};
}

ParamSpec reg_exponent_param() {
  return ParamSpec::number("reg_exponent", 0, 0, 2,
                           "e: lambda of a row of n pairs times (n + rows of the other side / "
                           "alpha)^e");
}

ParamSpec popularity_exponent_param() {
  return ParamSpec::number("popularity_exponent", 0, 0, 2,
                           "a: an unobserved pair of an item of n pairs weighs as n^a, 1 on "
                           "average")
      .silent();
}

ParamSpec cg_steps_param() {
  return ParamSpec::integer("cg_steps", 3, 1, 1000, "steps of the solver cg, from the last row",
                            "steps");
}

ParamSpec solver_param(Solver fallback) {
  return ParamSpec::choice("solver", fallback, kSolvers,
                           "how A_u x_u = b_u is solved: Cholesky, or cg_steps of CG");
}

ImplicitLoss read_loss(const Params& params) {
  return {params.number("alpha"), params.number("reg"),
          params.has("reg_exponent") ? params.number("reg_exponent") : 0, true,
          params.has("popularity_exponent") ? params.number("popularity_exponent") : 0};
}

Common read_common(const Params& params) {
  const int steps = params.has("cg_steps") ? static_cast<int>(params.integer("cg_steps")) : 0;
  return {static_cast<std::int32_t>(params.integer("factors")), read_loss(params), {steps, 0}};
}

Solver read_solver(const Params& params) { return params.choice("solver", kSolvers); }

AlgorithmInfo shared_info(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "ials";
  info.title = "Implicit feedback";
  info.method = Method::als;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.implicit = read_loss;
  info.phases = {"gram", "update_x", "update_y"};
  return info;
}

Work iteration_work(const Common& common, Solver solver, Normal normal, std::int64_t pairs,
                    std::int64_t filled_count) {
  const double f = common.factors;
  const double visits = 2.0 * static_cast<double>(pairs);
  const auto filled = static_cast<double>(filled_count);
  const double passes = solver == Solver::cg ? 3 : 2;  // CG also reads the row it starts from
  Work work;
  work.updates = visits;
  work.bytes = 8 * visits + (8 + passes * 4 * f) * filled;
  work.flops = visits * pair_flops(common, normal) +
               filled * (f * (f + 1) + row_flops(common, solver, normal));
  return work;
}

}  // namespace mf::ials
