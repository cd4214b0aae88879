// A spec's request for a data set, and its result.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/json/json.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/load.hpp"

namespace mf::test {

inline DatasetRequest parse_request(const std::string& text, const std::string& path = "$") {
  const Json json = expand_dataset_entry(parse_json(text, "test"), path);
  JsonReader reader(json, path);
  DatasetRequest request = parse_dataset_request(reader);
  reader.find("split");
  reader.finish();
  return request;
}

// (user id, item id) -> (value, part); a part of -1 without parts.
using Table = std::map<std::pair<int, int>, std::pair<float, int>>;

inline Table table_of(const Dataset& data) {
  Table table;
  for (std::int64_t k = 0; k < data.ratings.nnz(); ++k) {
    const Rating r = data.ratings[k];
    table[{data.ratings.user_ids()[r.user], data.ratings.item_ids()[r.item]}] = {
        r.value, data.parts.empty() ? -1 : data.parts.all[k]};
  }
  return table;
}

}  // namespace mf::test
