#include "algorithms/als/cumf/settings.hpp"

#include "algorithms/core/ranks/ranks.hpp"

namespace mf::als {
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
  if (const auto why = why_too_long(params, kMaxFactors)) return why;
  if (settings.exchange == Exchange::reduce && settings.common.solves_biases()) {
    return "center \"solved\" with exchange \"reduce\": devices that reduce do not send each other "
           "biases; use exchange \"gather\", or center \"biases\"";
  }
  if (settings.exchange == Exchange::reduce && devices_of(params) == 1) {
    return "exchange reduce is for several devices; found one: use \"devices\": 2 or more, or "
           "leave "
           "exchange out";
  }
  return why_singular(params);
}

// A is formed for as many rows as fit; where devices reduce, each forms a part of all.
MemoryUse als_memory(const Params& params) {
  const AlsSettings settings = read_als_settings(params);
  const bool reduces = settings.exchange == Exchange::reduce;
  const int factors = settings.common.factors;
  const double a =
      reduces ? 1.2 * devices_of(params) * static_cast<double>(a_bytes(AStorage::fp32, factors))
              : static_cast<double>(a_bytes(settings.a_storage, factors));
  MemoryUse use{.device = {.preparing = 32, .rating = 16, .number = 4, .row = 60}};
  if (settings.batch_rows > 0) {
    use.device.fixed = static_cast<double>(settings.batch_rows) * a;
  } else {
    use.device.batch_row = a + 8.0 * factors;
  }
  return use;
}

}  // namespace mf::als
