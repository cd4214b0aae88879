// The parameters of algorithms that several ranks compute together.
#pragma once

#include <algorithm>

#include "algorithms/core/params.hpp"

namespace mf {

inline constexpr int kMostRanks = 1024;

// `ranks`; a case of one says nothing of it.
inline ParamSpec ranks_param() {
  return ParamSpec::integer("ranks", 1, 1, kMostRanks,
                            "threads or processes, each with a share of the users and of the items")
      .silent();
}

// `devices`: a rank for each. A case of one says nothing of it.
inline ParamSpec devices_param() {
  return ParamSpec::integer("devices", 1, 1, kMostRanks,
                            "GPUs, a rank each, with a share of the rows (docs/several-gpus.md)")
      .silent();
}

// An algorithm without them is one rank.
inline int ranks_by(const Params& params, const char* name) {
  return params.has(name) ? static_cast<int>(params.integer(name)) : 1;
}

inline int devices_of(const Params& params) { return ranks_by(params, "devices"); }

// Ranks of a case, by either parameter.
inline int ranks_of(const Params& params) {
  return std::max(ranks_by(params, "ranks"), devices_of(params));
}

}  // namespace mf
