#include "base/files/open_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/files/file_place.hpp"
#include "base/files/held_folder.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

const char* kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a link";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISREG(mode) ? "a file" : "a device or a socket";
}

struct stat status_of(const FileHandle& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) fail_to("read", path, errno);
  return status;
}

FileHandle open_found(const std::string& path, int flags) {
  auto held = open_held(path, flags);
  return held ? std::move(*held) : FileHandle(::open(path.c_str(), flags));
}

}  // namespace

// A fault of the file is an error of the data; a shortage in this process is not.
void fail_to(const std::string& done, const std::string& path, int error) {
  const bool own = error == EMFILE || error == ENFILE || error == EIO;
  const ErrorKind kind = error == ENOMEM ? ErrorKind::memory
                         : own           ? ErrorKind::io
                                         : ErrorKind::data;
  fail(kind, "{}: cannot be {}: {}", path, done, cause_of(error));
}

// Without O_NONBLOCK, opening a pipe waits for a writer.
std::optional<FileHandle> open_if_there(const std::string& path, Origin origin) {
  const bool found = origin == Origin::found, pipes = origin == Origin::named;
  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK);
  FileHandle file =
      found ? open_found(path, flags | O_NOFOLLOW) : FileHandle(::open(path.c_str(), flags));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file && errno == ELOOP) {
    fail_in_file(path, found ? "a link" : "a link that leads to itself", "a file");
  }
  if (!file && errno == ENXIO) fail_in_file(path, "a device or a socket", "a file");
  if (!file) fail_to("opened", path, errno);
  const mode_t mode = status_of(file, path).st_mode;
  if (S_ISREG(mode) || (pipes && S_ISFIFO(mode))) return file;
  fail_in_file(path, kind_of(mode), "a file");
}

FileHandle open_file(const std::string& path, Origin origin) {
  if (auto file = open_if_there(path, origin)) return std::move(*file);
  fail_in_file(path, "no such file", "a file");
}

std::int64_t changed_ns(const std::string& path) {
  const FileHandle file = open_found(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  return file ? changed_ns(file) : 0;
}

std::int64_t size_of(const FileHandle& file) {
  struct stat status {};
  return ::fstat(file.fd(), &status) == 0 ? status.st_size : 0;
}

std::string read_text(const FileHandle& file, const std::string& path, std::int64_t most) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  // A file says its size before it is read, a pipe does not.
  while (std::max<std::int64_t>(size_of(file), std::ssize(text)) <= most) {
    const ssize_t count = ::read(file.fd(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to("read", path, errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  fail_in_file(path, fmt::format("more than {} MiB", std::max<std::int64_t>(1, most >> 20)),
               "a shorter text");
}

std::string read_text(const std::string& path, Origin origin, std::int64_t most) {
  return read_text(open_file(path, origin), path, most);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_taken(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

namespace {

[[noreturn]] void fail_to_make(const FileHandle& above, const std::string& name,
                               const std::string& path, int cause) {
  struct stat status {};
  const bool there = ::fstatat(above.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISDIR(status.st_mode)) {
    fail(ErrorKind::io, "{}: found {}, expected a folder; move it away", path,
         kind_of(status.st_mode));
  }
  fail(ErrorKind::io, "{}: the folder cannot be created: {}", path, cause_of(cause));
}

}  // namespace

// Each within the opened one above, even if its name was taken meanwhile.
std::string make_folder_in(const std::string& top, const std::string& name) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  FileHandle folder = reach_folder(top, Origin::found);
  if (!folder) fail(ErrorKind::io, "{}: cannot be opened: {}", top, last_cause());
  std::string path = top;
  for (const auto& part : fs::path(name)) {
    path += "/" + part.string();
    const bool made = ::mkdirat(folder.fd(), part.c_str(), 0777) == 0 || errno == EEXIST;
    FileHandle next(made ? ::openat(folder.fd(), part.c_str(), kFlags | O_NOFOLLOW) : -1);
    if (!next) fail_to_make(folder, part.string(), path, errno);
    folder = std::move(next);
  }
  return path;
}

}  // namespace mf
