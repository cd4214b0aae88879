// Reads the messages of a peer, their keys beside "type", and the model that it wrote: npy files in
// its folder. None of it is trusted. Each function throws an Error that names the place; its
// caller calls finish(), which refuses other keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "algorithms/core/model.hpp"
#include "base/json/json.hpp"

namespace mf::peer {

inline constexpr int kProtocol = 1;

// The facts that a peer tells about itself.
struct Hello {
  std::string version;
  bool each_epoch = false;
  std::string starts_from;  // "mfbench", "library": whose initial factors
  // That its start has warmed up for, by its own clock; nothing: it has not.
  std::optional<double> warm_up_s;
  Json build;  // facts such as its instruction sets and threads
};
Hello read_hello(JsonReader& reader, const std::string& library);

double read_converted(JsonReader& reader);  // the seconds that it took to make its own format

// The message after training.
struct Trained {
  double seconds = 0;  // from its initial model to the end of the epoch, over all calls
  // Its own RMSE of the test part, if it has been given one; perhaps not finite.
  std::optional<double> rmse;
};
Trained read_trained(JsonReader& reader, std::int64_t until);

Json read_done(JsonReader& reader);  // its own account, an object

// Its own account of its failure.
struct Complaint {
  std::string kind;  // "failed", "memory", "unsupported"
  std::string text;
};
Complaint read_complaint(JsonReader& reader);

struct ModelFiles {
  std::map<std::string, std::string> names;  // by part: "p", "q", "user_bias", "item_bias"
  double mean = 0;
};
ModelFiles read_model_files(JsonReader& reader);

// Float32 in C order, of the shape's sizes; a part without a file is zero. Throws Error(data) for
// what is not so, and CaseOver if numbers are not finite.
Model read_model(const std::string& folder, const ModelFiles& files, const ModelShape& shape);

}  // namespace mf::peer
