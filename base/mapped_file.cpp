#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"

namespace mf {
namespace {

std::string cause() { return std::generic_category().message(errno); }

FileHandle open_file(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return file;
  if (errno == ENOENT) fail_in_file(path, "no such file", "a file");
  fail(ErrorKind::data, "{}: cannot be opened: {}", path, cause());
}

Bytes read_to_end(const FileHandle& file, const std::string& path) {
  AlignedVector<char> buffer(1 << 20);
  std::int64_t filled = 0;
  for (;;) {
    if (filled == std::ssize(buffer)) buffer.resize(2 * filled);
    const ssize_t n =
        read(file.fd(), buffer.data() + filled, buffer.size() - static_cast<std::size_t>(filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::data, "{}: cannot be read: {}", path, cause());
    if (n == 0) break;
    filled += n;
  }
  buffer.resize(filled);
  return own_bytes(std::move(buffer));
}

}  // namespace

Bytes own_bytes(AlignedVector<char> buffer) {
  auto owner = std::make_shared<const AlignedVector<char>>(std::move(buffer));
  return {std::string_view(owner->data(), owner->size()), owner};
}

Bytes map_file(const std::string& path) {
  const FileHandle file = open_file(path);
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) {
    fail(ErrorKind::data, "{}: cannot be read: {}", path, cause());
  }
  if (S_ISDIR(status.st_mode)) fail_in_file(path, "a directory", "a file");
  if (!S_ISREG(status.st_mode)) return read_to_end(file, path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (address == MAP_FAILED) {
    fail(ErrorKind::data, "{}: cannot be mapped into memory: {}", path, cause());
  }
  std::shared_ptr<const void> owner(address, [size](void* p) { munmap(p, size); });
  return {std::string_view(static_cast<const char*>(address), size), std::move(owner)};
}

}  // namespace mf
