// Internal: one-dimensional arrays of NumPy's format as ids or ratings: little-endian integers of
// 1, 2, 4, 8 bytes and floats of 4, 8 bytes; and, as ids, text: '<U7' (UCS-4) and '|S7' (UTF-8),
// without NULs at the end.
#pragma once

#include <string>

#include "base/files/mapped_file.hpp"
#include "base/threads.hpp"
#include "datasets/readers/fields.hpp"

namespace mf {

class NumpyColumn {
 public:
  // `name` is for messages: "folder/users.npy" or "set.npz(users.npy)". Throws Error(data) for
  // another type or shape, and if the data are shorter or longer than the header says.
  NumpyColumn(std::string name, Bytes bytes);

  std::int64_t size() const { return size_; }

  bool is_text() const { return type_[0] == 'U' || type_[0] == 'S'; }

  // All elements as ids or ratings; the first that is neither, in order, is an Error(data).
  // Elements of text become rows of `names`.
  AlignedVector<std::int32_t> ids(const char* what, IdKind kind, IdNames& names,
                                  ThreadTeam& team) const;
  AlignedVector<float> ratings(const ScaleCheck& scale, ThreadTeam& team) const;
  AlignedVector<std::int64_t> times(ThreadTeam& team) const;  // fractions are dropped

 private:
  AlignedVector<std::int32_t> text_ids(const char* what, IdNames& names) const;
  std::string text_at(std::int64_t i) const;
  void refuse_text(const std::string& expected, const char* hint) const;

  std::string name_;
  Bytes bytes_;
  std::string_view data_;
  std::string type_;        // "i4", "U7"
  std::int64_t width_ = 0;  // bytes of an element
  std::int64_t size_ = 0;
};

}  // namespace mf
