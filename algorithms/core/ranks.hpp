// The parameters of algorithms that several processes compute together.
#pragma once

#include <algorithm>

#include "algorithms/core/params.hpp"

namespace mf {

inline constexpr int kMostRanks = 1024;

// `ranks`; a case of one has no such parameter.
inline ParamSpec ranks_param() {
  ParamSpec spec = ParamSpec::integer("ranks", 1, 1, kMostRanks,
                                      "processes, each with a share of the users and of the items");
  spec.silent_default = true;
  return spec;
}

// `devices`: a process for each. A case of one has no such parameter.
inline ParamSpec devices_param() {
  ParamSpec spec =
      ParamSpec::integer("devices", 1, 1, kMostRanks,
                         "GPUs, a process each, with a share of the rows (docs/several-gpus.md)");
  spec.silent_default = true;
  return spec;
}

inline int devices_of(const Params& params) {
  return params.has("devices") ? static_cast<int>(params.integer("devices")) : 1;
}

// Processes of a case, by either parameter.
inline int ranks_of(const Params& params) {
  const int ranks = params.has("ranks") ? static_cast<int>(params.integer("ranks")) : 1;
  return std::max(ranks, devices_of(params));
}

}  // namespace mf
