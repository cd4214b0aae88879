// The training part as the npy files that peers/common/mfpeer.py names, for one peer or for all
// that train on it one after another.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/peer/places.hpp"
#include "datasets/ratings/ratings.hpp"

namespace mf::peer {

class TrainingFiles {
 public:
  // Writes them, users' rows in order with their offsets, so that neither a sort nor a text is
  // between a library and its own format. Throws Error(io).
  explicit TrainingFiles(const Ratings& train);

  // Their names in `folder`, as links: what they are is not copied.
  void link_into(const std::string& folder) const;

  // They have not been written to since, as far as the system says.
  bool untouched() const;

  double seconds() const { return seconds_; }  // that writing them took
  std::int64_t bytes() const { return bytes_; }
  bool in_memory() const { return scratch_.in_memory(); }

 private:
  struct Stamp {
    timespec changed{}, modified{};
    std::int64_t bytes = 0;
    bool operator==(const Stamp& other) const;
  };
  static Stamp stamp_of(const std::string& path);

  Scratch scratch_;
  std::vector<std::string> names_;
  std::vector<Stamp> stamps_;
  double seconds_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace mf::peer
