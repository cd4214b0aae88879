// An advisory lock between processes (and between threads of one): flock on a file of its own. The
// file stays behind; the system releases the lock when its holder ends, however it ends.
#pragma once

#include <optional>
#include <string>

#include "base/files/files.hpp"

namespace mf {

class FileLock {
 public:
  // Waits until the lock is free; says once that it waits. Throws Error(io).
  explicit FileLock(const std::string& path);
  // The lock, or nothing where it is held. Throws Error(io).
  static std::optional<FileLock> if_free(const std::string& path);

 private:
  explicit FileLock(FileHandle file) : file_(std::move(file)) {}
  FileHandle file_;
};

}  // namespace mf
