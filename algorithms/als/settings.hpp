// The parameters that the ALS algorithms share, resolved, and the work of an iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/als/cg.hpp"
#include "algorithms/als/row_reg.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/params.hpp"

namespace mf::als {

// The center removed from the ratings before they are factorised; the model is then the biased one.
// solved: the mean is removed, and the biases are solved for with the rows.
enum class CenterKind { none, mean, biases, solved };
inline constexpr Names kCenterKinds{
    std::to_array<Named<CenterKind>>({{"none", CenterKind::none},
                                      {"mean", CenterKind::mean},
                                      {"biases", CenterKind::biases},
                                      {"solved", CenterKind::solved}})};

enum class Solver { lu, cholesky, cg };
inline constexpr Names kSolvers{std::to_array<Named<Solver>>(
    {{"lu", Solver::lu}, {"cholesky", Solver::cholesky}, {"cg", Solver::cg}})};

// The rows that an epoch solves first.
enum class FirstSide { users, items };
inline constexpr Names kFirstSides{
    std::to_array<Named<FirstSide>>({{"users", FirstSide::users}, {"items", FirstSide::items}})};

struct Common {
  std::int32_t factors;  // unknowns of a row; a solved bias is the last of them
  double reg;            // lambda; a row of n ratings is shrunk by lambda n^reg_power
  CenterKind center;
  CgRule cg;
  double reg_power = 1;
  FirstSide first = FirstSide::users;

  bool solves_biases() const { return center == CenterKind::solved; }
  std::int32_t model_factors() const { return solves_biases() ? factors - 1 : factors; }
};

inline RowReg row_reg_of(const Common& common) { return {common.reg, common.reg_power}; }

constexpr std::int64_t kMaxFactors = 2048;

// factors, reg, reg_power, first, center, cg_steps, cg_tolerance.
std::vector<ParamSpec> common_params(std::int64_t max_factors = kMaxFactors);
Common read_common(const Params& params);

ParamSpec solver_param(Solver fallback);
Solver read_solver(const Params& params);

// The cost of a row beside its ratings, in ratings: f^2 / 2 multiplications each. Cholesky and LU
// take about f^3 / 6 and f^3 / 3, a step of CG f^2.
double row_cost(const Common& common, Solver solver);

// `center: solved` leaves no unknown for the bias if a row already has the most factors.
std::optional<std::string> why_too_long(const Params& params, std::int64_t max_factors);

// An exact solver without a regularizer: A_u of a row with fewer ratings than factors is singular.
std::optional<std::string> why_singular(const Params& params);

// Compulsory work of an iteration (X, then Theta); README.md derives it. Each half-step visits
// every rating, so `updates` is twice their number.
// `rated_rows`: users and items with at least one of the nnz ratings.
Work iteration_work(const Common& common, Solver solver, std::int64_t nnz, std::int64_t rated_rows);

}  // namespace mf::als
