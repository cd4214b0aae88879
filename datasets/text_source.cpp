#include "datasets/text_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "datasets/parse_error.hpp"

namespace mf {
namespace {

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) return;
    if (errno == ENOENT) fail_in_file(path, "no such file", "a file of ratings");
    fail(ErrorKind::data, "{}: cannot be opened: {}", path, cause());
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  static std::string cause() { return std::generic_category().message(errno); }

 private:
  int fd_;
};

Bytes read_to_end(const File& file, const std::string& path) {
  AlignedVector<char> buffer(1 << 20);
  std::size_t filled = 0;
  for (;;) {
    if (filled == buffer.size()) buffer.resize(2 * buffer.size());
    const ssize_t n = read(file.fd(), buffer.data() + filled, buffer.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::data, "{}: cannot be read: {}", path, File::cause());
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
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
  const File file(path);
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) {
    fail(ErrorKind::data, "{}: cannot be read: {}", path, File::cause());
  }
  if (S_ISDIR(status.st_mode)) fail_in_file(path, "a directory", "a file");
  if (!S_ISREG(status.st_mode)) return read_to_end(file, path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (address == MAP_FAILED) {
    fail(ErrorKind::data, "{}: cannot be mapped into memory: {}", path, File::cause());
  }
  std::shared_ptr<const void> owner(address, [size](void* p) { munmap(p, size); });
  return {std::string_view(static_cast<const char*>(address), size), std::move(owner)};
}

Text make_text(const std::string& path, const Bytes& file) {
  Text text{path, file};
  const Compression compression = detect_compression(text.view());
  if (compression != Compression::none) text.bytes = decompress(path, file, compression);
  if (text.view().starts_with("\xef\xbb\xbf")) text.bytes.view.remove_prefix(3);
  return text;
}

Text open_text(const std::string& path) { return make_text(path, map_file(path)); }

}  // namespace mf
