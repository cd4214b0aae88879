// Files as the system has them, with errors that name the path and the cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mf {

// Closes its file with it. -1: none.
class FileHandle {
 public:
  explicit FileHandle(int fd = -1) : fd_(fd) {}
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  bool close();  // false where that fails: errno says why

 private:
  int fd_;
};

// What to do about an errno; empty where only the reader of the message can know.
std::string advice_on(int error);

// What errno says in the words of the system, and what to do about it where that is known:
// "Too many open files; this process may open 1024: raise that (ulimit -n)".
std::string cause_of(int error);
std::string last_cause();  // of errno

// Writes all of it; false where that fails: errno says why.
bool write_all(const FileHandle& file, std::span<const std::byte> bytes);
bool write_all(const FileHandle& file, std::string_view text);

// Creates the folder (that of the file) and its parents. Throws Error(io) naming folder and cause.
void make_folder(const std::string& folder);
void make_parent_folder(const std::string& file);

// When the file was changed last, in nanoseconds by the clock of its file system.
std::int64_t changed_ns(const FileHandle& file);

// Renames a file, replacing what has that name. Throws Error(io) naming both and the cause.
void move_file(const std::string& from, const std::string& to);

}  // namespace mf
