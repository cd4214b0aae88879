// The training part as the npy files that peers/common/mfpeer.py names, for one peer or for all
// that train on it one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/core/phases.hpp"
#include "algorithms/peer/channel.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::peer {

class TrainingFiles {
 public:
  // Writes them, users' rows in order with their offsets, so that neither a sort nor a text is
  // between a library and its own format. A supervisor in that Python keeps them; starting it is a
  // phase. Throws Error(io).
  TrainingFiles(const std::string& python, const Ratings& train, PhaseSink* phases);

  const std::string& folder() const { return keeper_->folder(); }
  // They have not been written to since, as far as the system says.
  bool untouched() const { return stamp() == stamp_; }
  std::int64_t bytes() const { return bytes_; }
  bool in_memory() const { return keeper_->said().at("in_memory").get<bool>(); }

 private:
  std::string stamp() const;

  std::optional<Channel> keeper_;
  std::string stamp_;
  std::int64_t bytes_ = 0;
};

}  // namespace mf::peer
