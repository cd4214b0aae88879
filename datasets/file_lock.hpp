// An advisory lock between processes (and between threads of one): flock on a file of its own. The
// file stays behind; the system releases the lock when its holder ends, however it ends.
#pragma once

#include <string>

namespace mf {

class FileLock {
 public:
  // Waits until the lock is free; says once that it waits. Throws Error(io).
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

// Creates the folder and its parents. Throws Error(io) naming the folder and the cause.
void make_folder(const std::string& folder);

// Renames a file, replacing what has that name. Throws Error(io) naming both and the cause.
void move_file(const std::string& from, const std::string& to);

}  // namespace mf
