#include "base/files/file_place.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

constexpr int kReach = O_PATH | O_DIRECTORY | O_CLOEXEC;

std::string folder_before(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

FileHandle reach_folder(const std::string& path, Origin origin) {
  if (origin != Origin::found) return FileHandle(::open(path.c_str(), kReach));
  const FileHandle top(::open(fs::path(path).is_absolute() ? "/" : ".", kReach));
  return top ? reach_below(top, fs::path(path).relative_path().string()) : FileHandle();
}

FileHandle reach_below(const FileHandle& top, const std::string& path) {
  FileHandle folder(::openat(top.fd(), ".", kReach));
  for (const auto& part : fs::path(path)) {
    if (!folder) break;
    if (!part.empty())
      folder = FileHandle(::openat(folder.fd(), part.c_str(), kReach | O_NOFOLLOW));
  }
  return folder;
}

std::string without_links(const std::string& folder) {
  if (reach_folder(folder, Origin::found)) return folder;
  std::error_code error;
  const fs::path place = fs::canonical(folder, error);
  if (error) fail(ErrorKind::io, "{}: cannot be opened: {}", folder, cause_of(error.value()));
  return place.string();
}

FilePlace::FilePlace(const std::string& path, Origin origin)
    : path_(path),
      name_(fs::path(path).filename().string()),
      folder_(reach_folder(folder_before(path), origin)),
      why_not_(folder_ ? 0 : errno) {}

bool FilePlace::is_reached() const {
  if (!folder_) errno = why_not_;
  return static_cast<bool>(folder_);
}

FileHandle FilePlace::make_file(int flags) const {
  constexpr int kNew = O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return FileHandle(is_reached() ? ::openat(folder_.fd(), name_.c_str(), kNew | flags, 0666) : -1);
}

bool FilePlace::make_folder() const {
  return is_reached() && ::mkdirat(folder_.fd(), name_.c_str(), 0777) == 0;
}

bool FilePlace::is_taken() const {
  struct stat status {};
  return ::fstatat(folder_.fd(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool FilePlace::holds(const FileHandle& file) const {
  struct stat own {
  }, there{};
  return ::fstat(file.fd(), &own) == 0 &&
         ::fstatat(folder_.fd(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

void FilePlace::remove() const { ::unlinkat(folder_.fd(), name_.c_str(), 0); }

bool FilePlace::remove_tree() const {
  if (!is_reached()) return false;
  std::error_code error;
  fs::remove_all(fmt::format("/proc/self/fd/{}/{}", folder_.fd(), name_), error);
  errno = error.value();
  return !error;
}

void FilePlace::move_to(const std::string& name) const {
  if (is_reached() && ::renameat(folder_.fd(), name_.c_str(), folder_.fd(), name.c_str()) == 0)
    return;
  fail(ErrorKind::io, "{}: cannot be renamed to {}: {}", path_,
       (fs::path(path_).parent_path() / name).string(), last_cause());
}

void FilePlace::sync() const {
  const FileHandle folder(::openat(folder_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.fd());
}

}  // namespace mf
