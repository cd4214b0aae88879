#include "algorithms/bpmf/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "algorithms/als/cpu/half_step.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/rows.hpp"
#include "algorithms/core/sgd/sgd_params.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::bpmf {

static std::vector<ParamSpec> common_params() {
  return {factors_param(32, kMaxFactors),
          ParamSpec::choice("center", als::CenterKind::mean, als::kCenterKinds,
                            "what stands beside p.q: nothing, mu, or mu + b_u + c_i, whose biases "
                            "are drawn as further columns of P and Q"),
          ParamSpec::integer("burn_in", 10, 0, 1'000'000'000,
                             "first draws that are not averaged over", "epochs"),
          ParamSpec::number("alpha", 0, 0, 1e6,
                            "precision of the ratings, 1 / variance; 0: drawn, too, with a Gamma "
                            "prior"),
          ParamSpec::number("beta0", 2, 1e-6, 1e6,
                            "rows of zeros that the prior of a side's mean is worth"),
          ParamSpec::integer("nu0", 0, 0, 1'000'000,
                             "degrees of freedom of the Wishart prior; 0: as many as a row has "
                             "numbers")};
}

std::vector<ParamSpec> cpu_params() { return join_params(common_params(), {threads_param()}); }

std::vector<ParamSpec> device_params() {
  return join_params(
      common_params(),
      {ParamSpec::choice(
          "precision", als::FusedPrecision::fp16, als::kFusedPrecisions,
          "type of the gathered rows: one fp16 word a factor, or the sum of two; products are "
          "added in fp32")});
}

Settings read_settings(const Params& params) {
  Settings settings;
  settings.center = params.choice("center", als::kCenterKinds);
  settings.columns = {static_cast<std::int32_t>(params.integer("factors")),
                      settings.center == als::CenterKind::biases};
  settings.burn_in = params.integer("burn_in");
  settings.alpha = params.number("alpha");
  settings.beta0 = params.number("beta0");
  const std::int64_t nu0 = params.integer("nu0");
  settings.nu0 = static_cast<double>(nu0 > 0 ? nu0 : settings.columns.drawn());
  if (params.has("precision")) {
    settings.precision = params.choice("precision", als::kFusedPrecisions);
  }
  return settings;
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const Settings settings = read_settings(params);
  const std::int32_t numbers = settings.columns.drawn();
  if (settings.nu0 >= numbers) return std::nullopt;
  return fmt::format(
      "nu0 {}: the Wishart prior of rows of {} numbers has no density; use {} or more, or 0",
      params.integer("nu0"), numbers, numbers);
}

// As als_cpu's, and the sums of the rows while their moments are made.
MemoryNeed cpu_memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const std::int64_t team = threads_of(params);
  const auto stride = static_cast<double>(als::cpu::padded_stride(settings.columns.gathered()));
  const double rows = shape.rows();
  const auto nnz = static_cast<double>(shape.nnz);
  const auto longer = static_cast<double>(std::max(shape.n_users, shape.n_items));
  const double squares = als::cpu::most_systems(shape.nnz, team) + longer / 1024 + 1;
  const double centered = settings.center == als::CenterKind::none ? 0 : 4 * nnz + 4 * rows;
  const double residuals = settings.draws_alpha() ? 8 * static_cast<double>(shape.n_items) : 0;
  // The first rows stand beside their table.
  const double first = settings.columns.gathered() * longer * 4;
  const double bytes = rows * (stride * 4 + 12) + squares * stride * stride * 4 + 8 * nnz +
                       centered + residuals + first;
  return {std::max(bytes, nnz * 12), {}};
}

// As als_fused's, with the slots of a batch beside those of the parts of split rows, and tasks of
// the host in between.
MemoryNeed device_memory_need(const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(params);
  const std::int32_t gathered = settings.columns.gathered();
  const bool two_words = settings.precision == als::FusedPrecision::fp16x2;
  const int tiles = als::fused_tiles(gathered);
  const int warps = als::fused_warps(tiles, two_words);
  const std::int64_t slot =
      als::fused_slot_floats_of_thread(tiles, warps) * std::int64_t{32} * warps;
  const auto nnz = static_cast<double>(shape.nnz);
  const double rows = shape.rows();
  const double parts = split_parts(shape, kSplitRows);
  const double tasks = (rows + 2 * parts) * sizeof(als::FusedTask);
  const auto batch =
      static_cast<double>(std::min(rows_of_slots(slot), std::max(shape.n_users, shape.n_items)));
  const double row_bytes =
      4.0 * static_cast<double>(row_stride(settings.columns.factors + 2, 4)) +
      (two_words ? 4.0 : 2.0) * static_cast<double>(als::fused_stride(gathered));
  const double trained =
      16 * nnz + rows * (row_bytes + 4) + tasks + (parts + batch) * 4 * static_cast<double>(slot);
  const double sides = row_ratings_bytes(shape) + column_ratings_bytes(shape) + 8 * nnz + tasks;
  MemoryNeed need = {pinned_bytes(shape) + 2 * tasks,
                     {std::max(sides, making_columns_bytes(shape)), trained},
                     BesideRatings{{8 * nnz + tasks, trained}, true}};
  need.library_bytes = kLibraryBytes;
  return need;
}

Work draw_work(const Settings& settings, std::int64_t nnz, std::int64_t rated_rows) {
  const RowColumns& columns = settings.columns;
  als::Common common = {columns.gathered(), 0, settings.center, {}};
  Work work = als::iteration_work(common, als::Solver::cholesky, nnz, rated_rows);
  // The moments of the rows are made of them, which are read once more.
  const double numbers = columns.drawn();
  const auto rows = static_cast<double>(rated_rows);
  work.bytes += rows * 4 * numbers;
  work.flops += rows * (numbers * (numbers + 1) + 2 * numbers);
  return work;
}

}  // namespace mf::bpmf
