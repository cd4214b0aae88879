// Ratings that are still in a file. They are cut into the parts of a split while they are read,
// piece by piece, so that no array of all of them is made in between.
#pragma once

#include <cstdint>
#include <functional>

#include "base/ranks/communicator.hpp"

namespace mf {

class UnreadRatings {
 public:
  UnreadRatings() = default;
  virtual ~UnreadRatings() = default;
  UnreadRatings(const UnreadRatings&) = delete;
  UnreadRatings& operator=(const UnreadRatings&) = delete;

  // Piece k has the ratings [k * piece(), (k + 1) * piece()) of all.
  virtual std::int64_t piece() const = 0;

  // Reads a piece in which this rank has ratings, once, and calls use(items, values) with its
  // columns, canonical as in Ratings in own rows. By many threads. Throws Error(data).
  using Use = std::function<void(const std::int32_t* items, const float* values)>;
  virtual void read(std::int64_t number, const Use& use) = 0;

  // After the last piece: checks that the bytes read are the bytes written. All ranks together;
  // throws Error(data) on all, and then no result of the ratings may be used.
  virtual void check(Communicator& ranks) = 0;
};

}  // namespace mf
