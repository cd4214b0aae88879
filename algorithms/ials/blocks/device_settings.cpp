#include "algorithms/ials/blocks/device_settings.hpp"

#include "algorithms/ials/blocks/device_layout.hpp"

namespace mf::ials {
namespace {

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

}  // namespace

AlgorithmInfo ials_pp_info() {
  AlgorithmInfo info = shared_info("ials_pp");
  info.summary = "implicit ALS on a GPU by blocks of coordinates: linear in the factors per block";
  info.paper =
      "S. Rendle, W. Krichene, L. Zhang, Y. Koren, \"iALS++: Speeding up Matrix Factorization "
      "with Subspace Optimization\", 2021";
  info.hardware = Hardware::cuda;
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
