#include "testing/fuzz/scratch.hpp"

#include <fcntl.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/files/files.hpp"

namespace mf::fuzz {

const TempFolder& scratch() {
  static const TempFolder folder;
  // Nothing of the user's is read: no data, no cache.
  static const bool hermetic = ::setenv("MFBENCH_CACHE", (folder / "cache").c_str(), 1) == 0 &&
                               ::setenv("MFBENCH_DATA", (folder / "data").c_str(), 1) == 0;
  if (!hermetic) fail(ErrorKind::io, "the environment cannot be set");
  return folder;
}

std::string write_scratch(const std::string& name, std::string_view bytes) {
  const std::string path = scratch() / name;
  const auto open = [&] {
    return FileHandle(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  };
  FileHandle file = open();
  if (!file) {
    make_parent_folder(path);
    file = open();
  }
  if (!file || !write_all(file, bytes)) throw std::runtime_error(path + ": cannot be written");
  return path;
}

}  // namespace mf::fuzz
