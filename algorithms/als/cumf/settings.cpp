#include "algorithms/als/cumf/settings.hpp"

#include <algorithm>

#include "algorithms/als/cumf/plan.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/pinned.hpp"
#include "algorithms/core/ranks.hpp"

namespace mf::als {
namespace {

// What cuBLAS and cuSOLVER keep on the device for themselves.
constexpr double kLibraryBytes = 256e6;

}  // namespace

std::vector<ParamSpec> als_params() {
  std::vector<ParamSpec> params = common_params();
  params.push_back(solver_param(Solver::cg));
  params.push_back(ParamSpec::choice(
      "load", Load::noncoalesced_l1, kLoads,
      "factors to shared memory: a row by a warp, or a row a thread, through L1 or past it"));
  params.push_back(ParamSpec::choice("a_storage", AStorage::fp32, kAStorages,
                                     "of A between its formation and CG; fp16 scaled row by row"));
  params.push_back(ParamSpec::integer("batch_rows", 0, 0, std::int64_t{1} << 31,
                                      "rows whose A is in memory at once; 0: as many as fit",
                                      "rows"));
  params.push_back(ParamSpec::integer("split_rows", 8192, 0, std::int64_t{1} << 31,
                                      "rows with more ratings are cut over several thread blocks; "
                                      "0: a thread block a row always (the paper)",
                                      "ratings"));
  params.push_back(devices_param());
  return params;
}

AlsSettings read_als_settings(const Params& params) {
  return {read_common(params),           read_solver(params),
          params.choice("load", kLoads), params.choice("a_storage", kAStorages),
          params.integer("batch_rows"),  params.integer("split_rows")};
}

std::optional<std::string> als_why_unsupported(const Params& params, const ProblemShape&) {
  const AlsSettings settings = read_als_settings(params);
  if (settings.a_storage == AStorage::fp16 && settings.solver != Solver::cg) {
    return "a_storage fp16 is for solver cg alone: a factorization of A needs fp32";
  }
  return why_singular(params);
}

MemoryNeed als_memory_need(const Params& params, const ProblemShape& shape) {
  const AlsSettings settings = read_als_settings(params);
  const std::int64_t f = settings.common.factors;
  const int devices = devices_of(params);
  const ProblemShape own = share_of(shape, devices);
  const auto nnz = static_cast<double>(own.nnz);
  const auto rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  const auto own_rows = static_cast<double>(own.n_users) + static_cast<double>(own.n_items);
  const std::int64_t most_rows = std::max<std::int64_t>({own.n_users, own.n_items, 1});
  const double vector = 4.0 * static_cast<double>(row_stride(f, sizeof(float)));
  const bool centered = settings.common.center != CenterKind::none;

  // The smallest batch that works, or the one that was asked for.
  const auto batch = static_cast<double>(
      settings.batch_rows > 0 ? std::min(settings.batch_rows, most_rows) : std::int64_t{1});
  const double parts = settings.split_rows > 0 && own.nnz > settings.split_rows
                           ? static_cast<double>(kMaxRowParts)
                           : 0.0;
  const double bias_parts =
      std::min(nnz / kBiasSplit + batch, batch * static_cast<double>(kMaxBiasParts));
  const double systems =
      batch * (static_cast<double>(a_bytes(settings.a_storage, f)) + vector + 32) +
      parts * static_cast<double>(a_bytes(AStorage::fp32, f)) + bias_parts * vector;
  const double split = settings.split_rows > 0 ? static_cast<double>(settings.split_rows) : nnz + 1;
  const double tasks = 2 * own_rows * (sizeof(RowTask) + 4) +
                       2 * (nnz / split + nnz / kBiasSplit) * (sizeof(RowTask) + sizeof(SplitRow));
  const double libraries = settings.solver == Solver::cg ? 0 : kLibraryBytes;
  const double trained =
      16 * nnz + rows * (vector + (centered ? 4 : 0)) + tasks + systems + libraries;
  const double sides = row_ratings_bytes(own) + column_ratings_bytes(own) + 8 * nnz;
  // Sums over the rows of a side and its tasks before they are sorted, where systems lie later.
  const auto longer = static_cast<double>(most_rows);
  const double planning = 24 * longer + 48 * (longer + nnz / kBiasSplit + nnz / split);
  const double planned = trained - systems - libraries + planning;
  const double making =
      devices > 1 ? joining_columns_bytes(shape, devices) : making_columns_bytes(shape);
  return {kPinnedBytes, std::max({trained, planned, sides, making})};
}

}  // namespace mf::als
