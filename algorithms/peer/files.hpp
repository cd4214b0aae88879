// The npy files that mfbench and a peer exchange in supervisors' folders (peers/common/mfpeer.py).
#pragma once

#include <cstdint>
#include <string>

#include "algorithms/core/model.hpp"
#include "algorithms/core/phases.hpp"
#include "algorithms/peer/channel.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::peer {

// The training part for one peer, or for several peers that train on it one after another.
class TrainingFiles {
 public:
  // Writes users' rows in order with their offsets, so that a library converts them to its own
  // format without sorting or parsing. A supervisor in that Python keeps the files. Starting it is
  // a phase. Throws Error(io).
  TrainingFiles(const std::string& python, const Ratings& train, PhaseSink* phases);

  const std::string& folder() const { return keeper_.folder(); }
  // Whether no one has written to the files since, as far as the system says.
  bool untouched() const { return stamp() == stamp_; }
  std::int64_t bytes() const { return bytes_; }
  bool in_memory() const { return keeper_.said().at("in_memory").get<bool>(); }

 private:
  std::string stamp() const;

  Channel keeper_;
  std::string stamp_;
  std::int64_t bytes_ = 0;
};

// The model that an untrusted peer wrote to its folder: float32 in C order, with the sizes of the
// shape. `message` names the files (answers.py has checked the names). A part without a file is
// zero. Throws Error(data) for any other file, and CaseOver if numbers are not finite.
Model read_model(const std::string& folder, const Json& message, const ModelShape& shape);

}  // namespace mf::peer
