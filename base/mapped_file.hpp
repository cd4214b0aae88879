// The bytes of a file, memory-mapped.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/aligned.hpp"

namespace mf {

// Bytes with the mapping or buffer that owns them.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
};
Bytes own_bytes(AlignedVector<char> buffer);

// The file as it lies on disk: mapped if it is a regular file, else (a pipe) read to its end.
// Throws Error(data) for a missing file, a directory or no permission.
Bytes map_file(const std::string& path);

}  // namespace mf
