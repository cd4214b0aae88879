// Internal: one-dimensional arrays of NumPy's format (versions 1 to 3), little-endian integers of
// 1, 2, 4, 8 bytes and floats of 4, 8 bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/threads.hpp"
#include "datasets/fields.hpp"
#include "datasets/text_source.hpp"

namespace mf {

class NpyArray {
 public:
  // `name` is for messages: "folder/users.npy" or "set.npz(users.npy)". Throws Error(data) for
  // another type or shape, and where the data are shorter or longer than the header says.
  NpyArray(std::string name, Bytes bytes);

  std::size_t size() const { return size_; }

  // All elements as ids or ratings; the first that is none, in order, is an Error(data).
  AlignedVector<std::int32_t> ids(const char* what, ThreadTeam& team) const;
  AlignedVector<float> ratings(const ScaleCheck& scale, ThreadTeam& team) const;

 private:
  void read_header(std::string_view header);

  std::string name_;
  Bytes bytes_;
  std::string_view data_;
  std::string type_;  // "i4"
  std::size_t size_ = 0;
};

}  // namespace mf
