#include "base/files/held_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/files/file_place.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;

std::string without_slashes(std::string path) {  // "" is the root
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

}  // namespace

std::list<HeldFolder::Held>& HeldFolder::all() {
  static std::list<Held> held;
  return held;
}

const HeldFolder::Held* HeldFolder::above(const std::string& path) {
  const auto found =
      std::ranges::find_if(all(), [&](const Held& one) { return is_below(path, one.path); });
  return found == all().end() ? nullptr : &*found;
}

HeldFolder::HeldFolder(const std::string& path, Origin origin) {
  if (path.empty()) return;  // is not a folder
  const std::lock_guard lock(mutex);
  const std::string name = without_slashes(path);
  if (above(name + "/") != nullptr) return;
  FileHandle folder = reach_folder(name.empty() ? "/" : name, origin);
  const int why_not = folder ? 0 : errno;
  if (!folder && origin != Origin::found) return;
  all().push_front({name, std::make_shared<const FileHandle>(std::move(folder)), why_not});
  own_ = all().begin();
}

HeldFolder::~HeldFolder() {
  const std::lock_guard lock(mutex);
  if (own_) all().erase(*own_);
}

std::optional<FileHandle> open_held(const std::string& path, int flags) {
  std::optional<HeldFolder::Held> held;
  {
    const std::lock_guard lock(mutex);
    const auto* const found = HeldFolder::above(path);
    if (found == nullptr) return std::nullopt;
    held = *found;
  }
  errno = held->why_not;
  if (!*held->folder) return FileHandle();
  const fs::path place = fs::path(path.substr(held->path.size())).relative_path();
  const FileHandle folder = reach_below(*held->folder, place.parent_path().string());
  if (!folder) return FileHandle();
  return FileHandle(::openat(folder.fd(), place.filename().c_str(), flags));
}

}  // namespace mf
