#include "base/files/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/log.hpp"

namespace mf {
namespace {

FileHandle open_lock(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) fail(ErrorKind::io, "{}: cannot be opened: {}", path, last_cause());
  return file;
}

// False where the lock is held, which only LOCK_NB lets happen.
bool lock(const FileHandle& file, int how, const std::string& path) {
  while (::flock(file.fd(), how) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    fail(ErrorKind::io, "{}: cannot be locked: {}", path, last_cause());
  }
  return true;
}

}  // namespace

std::optional<FileLock> FileLock::if_free(const std::string& path) {
  FileHandle file = open_lock(path);
  if (!lock(file, LOCK_EX | LOCK_NB, path)) return std::nullopt;
  return FileLock(std::move(file));
}

FileLock::FileLock(const std::string& path) : file_(open_lock(path)) {
  if (lock(file_, LOCK_EX | LOCK_NB, path)) return;
  note("{}: held by another process, waiting", path);
  lock(file_, LOCK_EX, path);
}

}  // namespace mf
