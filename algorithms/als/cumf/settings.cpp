#include "algorithms/als/cumf/settings.hpp"

#include <algorithm>

#include "algorithms/als/cumf/plan.hpp"
#include "algorithms/als/cumf/reduce_plan.hpp"
#include "algorithms/core/device_need.hpp"
#include "algorithms/core/ranks/ranks.hpp"

namespace mf::als {
namespace {

// Bytes of a device, by what it takes when. Of several, each has its share of R and all factors;
// where they reduce, only rank 0, which evaluates, has all factors.
struct AlsNeed {
  AlsSettings settings;
  int devices;
  ProblemShape shape;  // its share
  double nnz, own_rows, rows, vector;
  double formed_rows;    // whose A it forms, all or a part of it
  double parts;          // into which rows are cut, of the side that has more
  std::int64_t longest;  // formed rows of the longer side

  AlsNeed(const AlsSettings& of, const ProblemShape& all, int devices_of_case)
      : settings(of),
        devices(devices_of_case),
        shape(share_of(all, devices_of_case)),
        nnz(static_cast<double>(shape.nnz)),
        own_rows(shape.rows()),
        rows(all.rows()),
        vector(4.0 * static_cast<double>(row_stride(of.common.factors, sizeof(float)))),
        formed_rows(reduces() ? rows : own_rows),
        parts(split_parts(shape, of.split_rows)),
        longest(longer_side(reduces() ? all : shape)) {}

  bool reduces() const { return settings.exchange == Exchange::reduce; }
  static std::int64_t longer_side(const ProblemShape& of) {
    return std::max<std::int64_t>({of.n_users, of.n_items, 1});
  }
  double a() const {
    return static_cast<double>(a_bytes(settings.a_storage, settings.common.factors));
  }
  double a_of_part() const {
    return static_cast<double>(a_bytes(AStorage::fp32, settings.common.factors));
  }
  double model() const {
    return rows * (vector + (settings.common.center == CenterKind::none ? 0.0 : 4.0));
  }

  // As DeviceSteps finds it from what is free when R lies as it is trained on.
  double budget(double free_bytes) const {
    const double before = 16 * nnz + model() + 8 * (formed_rows + 2) + 4 * formed_rows;
    return system_budget(free_bytes - before, nnz, formed_rows, vector);
  }
  Capacity room(double budget_bytes) const {
    const auto wanted = static_cast<std::int64_t>(parts);
    if (reduces()) {
      return reduce_capacity(longest, wanted, settings.batch_rows, devices, settings.common.factors,
                             a(), budget_bytes);
    }
    return choose_capacity(longest, wanted, settings.batch_rows, system_bytes(a(), vector),
                           a_of_part(), budget_bytes);
  }

  double tasks() const {
    const double sums = reduces() ? own_rows * (sizeof(SplitRow) + 4) : 0;
    return 2 * formed_rows * (sizeof(RowTask) + 4) + sums +
           2 * (parts + nnz / kBiasSplit) * (sizeof(RowTask) + sizeof(SplitRow));
  }
  double systems(const Capacity& room) const {
    const auto batch = static_cast<double>(room.rows);
    const double bias_parts =
        std::min(nnz / kBiasSplit, batch * static_cast<double>(kMaxBiasParts));
    const double others = settings.solver == Solver::cg ? 4 : 32;  // scales, or pointers and states
    const double parts_of_rows =
        static_cast<double>(room.parts) * a_of_part() + bias_parts * vector;
    const double solved = a() + vector + others;
    if (!reduces()) return batch * solved + parts_of_rows;
    const double moved = 2 * reduced_system_bytes(settings.common.factors);  // formed, received
    return batch * (moved + solved / devices) + parts_of_rows;
  }
  double trained(const Capacity& room) const {
    return 16 * nnz + model() + tasks() + systems(room);
  }

  // Before the systems: sums over the rows of a side, and its tasks before they are sorted.
  double planning() const {
    const auto longer = static_cast<double>(longest);
    return 16 * nnz + model() + tasks() + 24 * longer + 48 * (longer + nnz / kBiasSplit + parts);
  }
};

}  // namespace

std::vector<ParamSpec> als_params() {
  std::vector<ParamSpec> params = common_params();
  params.push_back(solver_param(Solver::cg));
  params.push_back(ParamSpec::choice(
      "load", Load::noncoalesced_l1, kLoads,
      "factors to shared memory: a row by a warp, or a row a thread, through L1 or past it; more "
      "than 256 factors have one way"));
  params.push_back(ParamSpec::choice("a_storage", AStorage::fp32, kAStorages,
                                     "type of A between its formation and CG; fp16: scaled"));
  params.push_back(ParamSpec::constant("batch_rows", std::int64_t{0}));
  params.push_back(ParamSpec::integer("split_rows", 8192, 0, std::int64_t{1} << 31,
                                      "rows with more ratings are cut over several thread blocks; "
                                      "0: a thread block a row always (the paper)",
                                      "ratings"));
  params.push_back(devices_param());
  params.push_back(
      ParamSpec::choice("exchange", Exchange::gather, kExchanges,
                        "what devices send each other: the factors that each has solved, or "
                        "what its ratings add to A_u and b_u of all rows (cuMF_ALS)")
          .silent());
  return params;
}

AlsSettings read_als_settings(const Params& params) {
  return {read_common(params),
          read_solver(params),
          params.choice("load", kLoads),
          params.choice("a_storage", kAStorages),
          params.integer("batch_rows"),
          params.integer("split_rows"),
          params.choice("exchange", kExchanges)};
}

std::optional<std::string> als_why_unsupported(const Params& params, const ProblemShape&) {
  const AlsSettings settings = read_als_settings(params);
  if (settings.a_storage == AStorage::fp16 && settings.solver != Solver::cg) {
    return "a_storage fp16 is for solver cg only: a factorization of A needs fp32";
  }
  if (settings.exchange == Exchange::reduce && devices_of(params) == 1) {
    return "exchange reduce is for several devices; found one: use \"devices\": 2 or more, or "
           "leave "
           "exchange out";
  }
  return why_singular(params);
}

MemoryNeed als_memory_need(const Params& params, const ProblemShape& shape) {
  const int devices = devices_of(params);
  const AlsNeed of(read_als_settings(params), shape, devices);
  const double least = of.trained(of.room(0));
  const double sides = row_ratings_bytes(of.shape) + column_ratings_bytes(of.shape) + 8 * of.nnz;
  double making = devices > 1 ? joining_columns_bytes(shape, devices) : making_columns_bytes(shape);
  // Its columns are turned round beside the other side, and both have offsets of all rows.
  if (of.reduces()) {
    making = std::max(making, making_columns_bytes(of.shape) + 8 * of.nnz + 8 * (of.rows + 2));
  }
  MemoryNeed need;
  need.host_bytes = pinned_bytes(of.shape);
  need.device = {std::max({of.planning(), sides, making}), least};
  need.beside_ratings = BesideRatings{{of.planning(), least}, true};
  need.library_bytes = of.settings.solver == Solver::cg ? 0 : kLibraryBytes;
  need.trained_in = [of](double free_bytes) { return of.trained(of.room(of.budget(free_bytes))); };
  return need;
}

}  // namespace mf::als
