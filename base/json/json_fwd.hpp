// The name of a JSON value, for headers that only pass one on: base/json/json.hpp has the rest, and
// takes a second of every source that reads it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mf {

using Json = nlohmann::ordered_json;

class JsonReader;

}  // namespace mf
