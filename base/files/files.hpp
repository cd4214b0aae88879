// Thin wrappers of file calls whose errors name the path and the cause.
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
  bool close();  // false if that fails: errno says why

 private:
  int fd_;
};

// Advice about an errno; empty if there is none.
std::string advice_on(int error);

// The system's text for an errno, and advice if there is any: "Too many open files; this process
// may open 1024: raise that (ulimit -n)".
std::string cause_of(int error);
std::string last_cause();  // of errno

// Writes all of it; false if that fails: errno says why.
bool write_all(const FileHandle& file, std::span<const std::byte> bytes);
bool write_all(const FileHandle& file, std::string_view text);

// Creates the folder (of the file) and its parents. Throws Error(io) naming folder and cause.
void make_folder(const std::string& folder);
void make_parent_folder(const std::string& file);

// When the file was changed last, in nanoseconds by the clock of its file system.
std::int64_t changed_ns(const FileHandle& file);

}  // namespace mf
