#include "algorithms/ials/blocks/device_settings.hpp"

#include <algorithm>

#include "algorithms/als/cumf/plan.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/ials/blocks/device_layout.hpp"
#include "algorithms/ials/device_bytes.hpp"

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
  return "reg is 0 in fp32: a block's Hessian is singular where the other side has fewer "
         "independent rows than coordinates; use reg above 0";
}

MemoryNeed pp_memory_need(const Params& params, const ProblemShape& shape) {
  const IalsPpSettings settings = read_ials_pp_settings(params);
  const std::int64_t f = settings.common.factors;
  const std::int32_t block = std::min(settings.block_size, settings.common.factors);
  const auto nnz = static_cast<double>(shape.nnz);
  const double rows = shape.rows();
  const auto most_rows = static_cast<double>(std::max(shape.n_users, shape.n_items));
  const double vector = 4.0 * static_cast<double>(row_stride(f, sizeof(float)));
  const double step = 4.0 * static_cast<double>(row_stride(block, sizeof(float)));
  const double parts = split_parts(shape, settings.split_rows);
  const double tasks =
      2 * rows * sizeof(als::RowTask) +
      2 * (2 * parts + 2 * nnz / als::kBiasSplit) * (sizeof(als::RowTask) + sizeof(als::SplitRow));
  const double trained = 20 * nnz + rows * (vector + 20) + most_rows * step + tasks +
                         parts * 4.0 * static_cast<double>(part_floats(block)) +
                         device_gram_bytes(f);
  // Sums over the rows of a side and its tasks before they are sorted.
  const double planning = 24 * most_rows + 48 * (most_rows + nnz / als::kBiasSplit + parts);
  const double sides = splitting_pairs_bytes(shape) + 8 * most_rows;
  const double planned = 16 * nnz + rows * 20 + tasks + planning;
  return {pinned_bytes(shape),
          {std::max(sides, row_ratings_bytes(shape) + planned), trained},
          BesideRatings{{planned, trained}, true},
          kLibraryBytes};
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
  info.memory = pp_memory_need;
  return info;
}

IalsPpSettings read_ials_pp_settings(const Params& params) {
  return {read_common(params), static_cast<std::int32_t>(params.integer("block_size")),
          params.integer("split_rows")};
}

}  // namespace mf::ials
