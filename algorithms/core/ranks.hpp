// The parameter of algorithms that several processes compute together.
#pragma once

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

inline int ranks_of(const Params& params) {
  return params.has("ranks") ? static_cast<int>(params.integer("ranks")) : 1;
}

}  // namespace mf
