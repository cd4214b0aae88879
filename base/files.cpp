#include "base/files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.hpp"

namespace mf {

namespace fs = std::filesystem;

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
  if (error) fail(ErrorKind::io, "{}: the folder cannot be created: {}", folder, error.message());
}

void make_parent_folder(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty()) make_folder(folder.string());
}

void move_file(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail(ErrorKind::io, "{}: cannot be renamed to {}: {}", from, to, error.message());
}

TemporaryFiles::~TemporaryFiles() {
  std::error_code ignored;
  for (const auto& path : paths_) fs::remove(path, ignored);
}

}  // namespace mf
