// The files between mfbench and a peer: npy in folders of supervisors (peers/common/mfpeer.py).
#pragma once

#include <cstdint>
#include <string>

#include "algorithms/core/model.hpp"
#include "algorithms/core/phases.hpp"
#include "algorithms/peer/channel.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::peer {

// The training part, for one peer or for all that train on it one after another.
class TrainingFiles {
 public:
  // Writes them, users' rows in order with their offsets, so that neither a sort nor a text is
  // between a library and its own format. A supervisor in that Python keeps them; starting it is a
  // phase. Throws Error(io).
  TrainingFiles(const std::string& python, const Ratings& train, PhaseSink* phases);

  const std::string& folder() const { return keeper_.folder(); }
  // They have not been written to since, as far as the system says.
  bool untouched() const { return stamp() == stamp_; }
  std::int64_t bytes() const { return bytes_; }
  bool in_memory() const { return keeper_.said().at("in_memory").get<bool>(); }

 private:
  std::string stamp() const;

  Channel keeper_;
  std::string stamp_;
  std::int64_t bytes_ = 0;
};

// The model that a peer wrote to its folder, which is not trusted: float32 in C order, of the
// shape's sizes. `message` names the files (answers.py has checked the names); a part without one
// is zero. Throws Error(data) for what is not so, and CaseOver if numbers are not finite.
Model read_model(const std::string& folder, const Json& message, const ModelShape& shape);

}  // namespace mf::peer
