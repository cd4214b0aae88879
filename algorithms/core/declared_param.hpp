// Parameters that a JSON file declares, as the peer.json of a library does.
#pragma once

#include <string>
#include <vector>

#include "algorithms/core/params.hpp"
#include "base/json/json.hpp"

namespace mf {

// `type`, `default`, and `min` and `max` or `choices`; `unit`, `help`, `silent`. These functions
// throw an Error that names the place.
ParamSpec read_declared_param(const std::string& name, JsonReader& reader);

// One of them has this name and type.
void expect_param(const std::vector<ParamSpec>& params, const std::string& name,
                  ParamSpec::Type type, const std::string& where);

}  // namespace mf
