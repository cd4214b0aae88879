#include "base/files/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/files/files.hpp"

namespace mf {
namespace {

thread_local MappedFiles* mapped_here = nullptr;

// A pipe, whose size is not known, or a file of `size` bytes.
Bytes read_to_end(const FileHandle& file, const std::string& path, std::int64_t size = 0) {
  constexpr std::int64_t kFirstBytes = 1 << 20;
  AlignedVector<char> buffer(size > 0 ? size + 1 : kFirstBytes);
  std::int64_t filled = 0;
  for (;;) {
    if (filled == std::ssize(buffer)) buffer.resize(2 * filled);
    const ssize_t n =
        read(file.fd(), buffer.data() + filled, buffer.size() - static_cast<std::size_t>(filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to("read", path, errno);
    if (n == 0) break;
    filled += n;
  }
  if (filled < size) fail_cut(path);
  buffer.resize(filled);
  return own_bytes(std::move(buffer));
}

// ---- files that are cut short while they are mapped ----

// State that a SIGBUS handler can read: no locks, no allocation.
struct Region {
  std::atomic<std::uintptr_t> begin = 0;  // 0: free
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> cut = false;
};
std::array<Region, 256> regions;
const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
std::mutex table;  // of changes to them

// The pages behind the end of the file become zeros.
void on_bus_error(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto page = address & ~(page_bytes - 1);
  for (Region& region : regions) {
    const std::uintptr_t end = region.end.load();
    if (region.begin.load() > address || address >= end) continue;
    region.cut = true;
    if (mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
      return;
    }
  }
  std::signal(SIGBUS, SIG_DFL);  // not of ours: the instruction runs again and ends the program
}

void watch_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
}

// The slot of a new region; -1 if all are taken.
int watch(const void* address, std::size_t size) {
  watch_bus_errors();
  const std::lock_guard lock(table);
  for (std::size_t slot = 0; slot < regions.size(); ++slot) {
    Region& region = regions[slot];
    if (region.begin != 0) continue;
    region.cut = false;
    region.end = reinterpret_cast<std::uintptr_t>(address) + size;
    region.begin = reinterpret_cast<std::uintptr_t>(address);
    return static_cast<int>(slot);
  }
  return -1;
}

void forget(int slot) {
  const std::lock_guard lock(table);
  Region& region = regions[static_cast<std::size_t>(slot)];
  region.begin = 0;
  region.end = 0;
}

// A page of newlines, with room for the file before it.
char* map_with_end(const FileHandle& file, std::size_t size, std::size_t room) {
  void* const begin = mmap(nullptr, room + page_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  auto* const bytes = static_cast<char*>(begin);
  std::memset(bytes + room, '\n', page_bytes);
  if (mmap(begin, size, PROT_READ, MAP_FIXED | MAP_PRIVATE, file.fd(), 0) != MAP_FAILED &&
      mprotect(bytes + room, page_bytes, PROT_READ) == 0) {
    return bytes;
  }
  const int why = errno;
  munmap(begin, room + page_bytes);
  errno = why;
  return nullptr;
}

Bytes map(const FileHandle& file, const std::string& path, std::size_t size) {
  const std::size_t room = (size + page_bytes - 1) / page_bytes * page_bytes;
  char* const address = map_with_end(file, size, room);
  if (address == nullptr) fail_to("mapped into memory", path, errno);
  const int slot = watch(address, room);
  if (slot < 0) {
    munmap(address, room + page_bytes);
    return read_to_end(file, path, static_cast<std::int64_t>(size));
  }
  std::shared_ptr<const void> owner(address, [room, slot](void* p) {
    forget(slot);
    munmap(p, room + page_bytes);
  });
  return {std::string_view(address, size), std::move(owner)};
}

}  // namespace

Bytes own_bytes(AlignedVector<char> buffer) {
  auto owner = std::make_shared<const AlignedVector<char>>(std::move(buffer));
  return {std::string_view(owner->data(), owner->size()), owner};
}

Bytes map_file(const std::string& path, Origin origin) {
  const FileHandle file = open_file(path, origin);
  struct stat status {};
  if (fstat(file.fd(), &status) != 0) fail_to("read", path, errno);
  if (S_ISFIFO(status.st_mode)) return read_to_end(file, path);
  if (status.st_size == 0) return {};
  if (mapped_here == nullptr) return read_to_end(file, path, status.st_size);
  Bytes mapped = map(file, path, static_cast<std::size_t>(status.st_size));
  mapped_here->add(path, mapped);
  return mapped;
}

void fail_cut(const std::string& path) {
  fail(ErrorKind::data, "{}: the file was cut short while it was read; its data are not used",
       path);
}

bool was_cut(const Bytes& mapped) {
  const auto address = reinterpret_cast<std::uintptr_t>(mapped.view.data());
  return std::ranges::any_of(regions, [&](const Region& region) {
    return address != 0 && region.begin == address && region.cut;
  });
}

MappedFiles::MappedFiles() : outer_(std::exchange(mapped_here, this)) {}

MappedFiles::~MappedFiles() { mapped_here = outer_; }

void MappedFiles::fail_if_cut() const {
  for (const auto& [path, mapped] : files_) {
    if (was_cut(mapped)) fail_cut(path);
  }
}

}  // namespace mf
