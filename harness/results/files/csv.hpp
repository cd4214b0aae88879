// Values as comma-separated text (RFC 4180).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace mf {

// A number in as many digits as give it back, true or false, text in quotes where it needs them;
// nothing for null. Lists are JSON in quotes.
std::string csv_cell(const Json& value);

// Adds the values of an object, those of objects inside under their names joined by dots:
// {"a": {"b": 1}} gives {prefix}a.b.
void add_flat(const Json& object, const std::string& prefix, std::map<std::string, Json>& cells);

// "a,b,c"
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace mf
