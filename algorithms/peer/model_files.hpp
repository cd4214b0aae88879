// The model that a peer wrote: npy files in its folder, all of which may be anything.
#pragma once

#include <map>
#include <string>

#include "algorithms/core/model.hpp"
#include "base/json/json.hpp"

namespace mf::peer {

struct ModelFiles {
  std::map<std::string, std::string> names;  // by part: "p", "q", "user_bias", "item_bias"
  double mean = 0;
};

// The keys of the message "model". Throws Error.
ModelFiles read_model_files(JsonReader& reader);

// Float32 in C order, of the shape's sizes; a part without a file is zero. Throws Error(data) for
// what is not so, and CaseOver where numbers are not finite.
Model read_model(const std::string& folder, const ModelFiles& files, const ModelShape& shape);

}  // namespace mf::peer
