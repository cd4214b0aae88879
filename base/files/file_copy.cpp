#include "base/files/file_copy.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/files/mapped_file.hpp"
#include "base/files/open_file.hpp"
#include "base/host/huge_pages.hpp"

namespace mf {

FileCopy::FileCopy(const std::string& path) : path_(path) {
  file_ = open_file(path, Origin::found);
  constexpr std::size_t kAlignment = 64;
  const auto size = static_cast<std::size_t>(size_of(file_));
  if (size == 0) return;
  void* const memory = allocate_array(size, kAlignment);
  owner_ = {memory, [size](void* p) { free_array(p, size, kAlignment); }};
  bytes_ = {static_cast<std::byte*>(memory), size};
}

void FileCopy::read_to(std::byte* to, std::size_t begin, std::size_t size) const {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        pread(file_.fd(), to + done, size - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::io, "{}: cannot be read: {}", path_, last_cause());
    if (count == 0) fail_cut(path_);
    done += static_cast<std::size_t>(count);
  }
}

void FileCopy::read(std::size_t begin, std::size_t size) {
  read_to(bytes_.data() + begin, begin, size);
}

void FileCopy::read(std::span<const std::byte> part) { read(place_of(part), part.size()); }

void FileCopy::read_to(std::byte* to, std::span<const std::byte> part) const {
  read_to(to, place_of(part), part.size());
}

}  // namespace mf
