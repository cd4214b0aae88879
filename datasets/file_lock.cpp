#include "datasets/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"

namespace mf {

FileLock::FileLock(const std::string& path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(ErrorKind::io, "{}: cannot be opened: {}", path, std::strerror(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) note("{}: held by another process, waiting", path);
  while (::flock(fd_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int cause = errno;
    ::close(fd_);
    fail(ErrorKind::io, "{}: cannot be locked: {}", path, std::strerror(cause));
  }
}

FileLock::~FileLock() { ::close(fd_); }

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "{}: the folder cannot be made: {}", folder, error.message());
}

void move_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) fail(ErrorKind::io, "{}: cannot be renamed to {}: {}", from, to, error.message());
}

}  // namespace mf
