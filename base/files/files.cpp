#include "base/files/files.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"

namespace mf {

namespace fs = std::filesystem;

std::string advice_on(int error) {
  switch (error) {
    case ENOSPC:
      return "the disk is full: free some space";
    case EDQUOT:
      return "your share of the disk is used up: free some space";
    case EFBIG:
      return "a limit on the size of files: raise it (ulimit -f)";
    case EMFILE: {
      rlimit limit{};
      getrlimit(RLIMIT_NOFILE, &limit);
      return "this process may open " + std::to_string(limit.rlim_cur) + ": raise that (ulimit -n)";
    }
    case ENFILE:
      return "the whole machine has as many open as it may (fs.file-max)";
    case EACCES:
    case EPERM:
      return "look at the owner and the permissions of the file and its folders";
    case EROFS:
      return "choose a folder on another file system";
    case ENOTDIR:
      return "one of its folders is a file or a link";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EIO:
      return "the disk or its connection fails: look at the system's log";
    case ENOMEM:
      return "the system has no memory for it";
    default:
      return "";
  }
}

std::string cause_of(int error) {
  const std::string advice = advice_on(error);
  return std::generic_category().message(error) + (advice.empty() ? "" : "; " + advice);
}

std::string last_cause() { return cause_of(errno); }

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileHandle::close() { return ::close(std::exchange(fd_, -1)) == 0; }

bool write_all(const FileHandle& file, std::span<const std::byte> bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // one call writes less than 2 GiB
  while (!bytes.empty()) {
    const ssize_t done = ::write(file.fd(), bytes.data(), std::min(bytes.size(), most));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool write_all(const FileHandle& file, std::string_view text) {
  return write_all(file, std::as_bytes(std::span(text)));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail(ErrorKind::io, "{}: the folder cannot be created: {}", folder, cause_of(error.value()));
}

void make_parent_folder(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty()) make_folder(folder.string());
}

std::int64_t changed_ns(const FileHandle& file) {
  struct stat info {};
  if (::fstat(file.fd(), &info) != 0) return 0;
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace mf
