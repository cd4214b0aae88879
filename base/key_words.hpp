// How messages name the keys of a data set: as a spec has them, or as the options of the command
// that was called.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace mf {

inline bool options_named = false;  // by messages from now on; set before there are threads

// columns, or --columns
inline std::string key_name(std::string key) {
  if (!options_named) return key;
  std::ranges::replace(key, '_', '-');
  return "--" + key;
}

// set ids to "text", or give --ids text; of several values one is meant
inline std::string set_key(const std::string& key, std::vector<std::string> values) {
  if (!options_named)
    for (auto& value : values) value = "\"" + value + "\"";
  const std::string last = (values.size() > 1 ? " or " : "") + values.back();
  values.pop_back();
  return (options_named ? "give --" + key + " " : "set " + key + " to ") + join(values) + last;
}

}  // namespace mf
