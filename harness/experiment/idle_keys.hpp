// Keys of a spec that are read and say nothing, as `rounding` where storage is fp32.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "algorithms/core/params.hpp"
#include "base/json/json.hpp"

namespace mf {

// One case of an entry of "algorithms": sweeps make several of the same path.
struct GivenParams {
  std::string path;  // of the entry: $.algorithms[2]
  std::string algorithm;
  Json given;                            // the entry's keys, without "tune"
  std::set<std::string> searched;        // those of "over" in "tune"
  const Params* params;                  // all of them, resolved
  std::set<std::string> inherited = {};  // keys of the spec in `given`
};

// A warning for each key that says nothing in any case of its entry, given or searched. A default
// that is given says nothing wrong.
std::vector<std::string> idle_keys(const std::vector<GivenParams>& cases);

}  // namespace mf
