#include "algorithms/ials/blocks/settings.hpp"

#include <algorithm>

#include "algorithms/core/threads_param.hpp"
#include "algorithms/ials/blocks/device_layout.hpp"

namespace mf::ials {
namespace {

constexpr const char* kPaper =
    "S. Rendle, W. Krichene, L. Zhang, Y. Koren, \"iALS++: Speeding up Matrix Factorization with "
    "Subspace Optimization\", arXiv 2110.14044, 2021";

std::vector<ParamSpec> ials_pp_params() {
  return join_params(
      common_params(),
      {reg_exponent_param(),
       ParamSpec::integer("block_size", 64, 1, kMaxBlockSize,
                          "coordinates of a row that are solved together", "factors"),
       ParamSpec::integer("split_rows", 32768, 0, std::int64_t{1} << 31,
                          "longer rows are cut over several thread blocks; 0: never", "pairs")});
}

std::optional<std::string> pp_why_singular(const Params& params, const ProblemShape&) {
  if (static_cast<float>(params.number("reg")) > 0) return std::nullopt;
  return "reg is 0 in fp32: a block's Hessian is singular if the other side has fewer "
         "independent rows than coordinates; use reg above 0";
}

// Blocks begin on cache lines.
std::optional<std::string> why_no_blocks(const Params& params, const ProblemShape& /*shape*/) {
  const std::int64_t size = params.integer("block_size");
  if (size % 16 == 0 || size >= params.integer("factors")) return std::nullopt;
  return "block_size " + std::to_string(size) +
         " is not a multiple of 16, where blocks must begin; use " +
         std::to_string(size / 16 * 16) + " or " + std::to_string(size / 16 * 16 + 16);
}

}  // namespace

std::int64_t read_block_size(const Params& params) {
  return std::min(params.integer("block_size"), params.integer("factors"));
}

Work pp_work(const Common& common, std::int64_t block_size, std::int64_t pairs,
             std::int64_t filled_count) {
  const double f = common.factors;
  // Its updates and bytes.
  Work work = iteration_work(common, Solver::cg, Normal::applied, pairs, filled_count);
  const auto filled = static_cast<double>(filled_count);
  double pair = 4 * f;                   // the first predictions, and a block's changes
  double row = f * (f + 1) + 2 * f * f;  // its part of the Gram matrix; G x
  for (double rest = f; rest > 0; rest -= static_cast<double>(block_size)) {
    const double b = std::min(rest, static_cast<double>(block_size));
    pair += b * (b + 1) + 2 * b;
    row += b * (b + 1) / 2 + b + b * b * b / 3 + 2 * b * b;
  }
  work.flops = work.updates * pair + filled * row;
  return work;
}

AlgorithmInfo pp_cpu_info() {
  AlgorithmInfo info = shared_info("ials_pp_cpu");
  info.summary = "iALS++ on the CPU: each row by a Newton step for every block of coordinates";
  info.paper = kPaper;
  info.params = join_params(
      common_params(),
      {reg_exponent_param(), popularity_exponent_param(),
       ParamSpec::integer("block_size", 64, 16, kMaxFactors,
                          "columns of X and Y that a Newton step solves for; multiples of 16"),
       threads_param()});
  info.supports = why_no_blocks;
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 14, .number = 8}}; };
  return info;
}

AlgorithmInfo ials_pp_info() {
  AlgorithmInfo info = shared_info("ials_pp");
  info.summary = "implicit ALS on a GPU by blocks of coordinates: linear in the factors per block";
  info.paper = kPaper;
  info.hardware = Hardware::cuda;
  info.phases = {"gram", "predict", "gradient", "solve"};
  info.starts_by_rule = true;
  info.params = ials_pp_params();
  info.supports = pp_why_singular;
  info.memory = [](const Params&) {
    return MemoryUse{.device = {.preparing = 32, .rating = 20, .number = 4.5, .row = 50}};
  };
  return info;
}

IalsPpSettings read_ials_pp_settings(const Params& params) {
  return {read_common(params), static_cast<std::int32_t>(params.integer("block_size")),
          params.integer("split_rows")};
}

}  // namespace mf::ials
