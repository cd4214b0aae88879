// The bytes of a file, memory-mapped.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/files/open_file.hpp"

namespace mf {

// Bytes with the mapping or buffer that owns them.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
};
Bytes own_bytes(AlignedVector<char> buffer);

// The bytes of the file. A pipe is read to its end. A regular file is mapped within
// of_whole_files(), which asks whether it was cut short, and read into memory elsewhere. Throws
// what open_file() throws, and Error(data) if a file ends before it is read.
//
// A mapped file that is cut short reads as zeros from there on, instead of ending the program by
// SIGBUS. Newlines follow its last page, so that a search for the end of a line finds one even if
// the file lost its own.
Bytes map_file(const std::string& path, Origin origin = Origin::named);

[[noreturn]] void fail_cut(const std::string& path);

// For threads other than the one in of_whole_files() that read the mapped file.
bool was_cut(const Bytes& mapped);

// The files that this thread maps, until the end of the scope. The inner of two has its own.
class MappedFiles {
 public:
  MappedFiles();
  ~MappedFiles();
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;

  void add(const std::string& path, const Bytes& file) { files_.emplace_back(path, file); }
  void fail_if_cut() const;

 private:
  std::vector<std::pair<std::string, Bytes>> files_;
  MappedFiles* outer_;
};

// Returns read(). Throws Error(data) if a file that it mapped on this thread was cut short: that
// explains more than an error about the remaining bytes.
template <class Read>
auto of_whole_files(const Read& read) {
  const MappedFiles files;
  try {
    auto found = read();
    files.fail_if_cut();
    return found;
  } catch (const Error&) {
    files.fail_if_cut();
    throw;
  }
}

}  // namespace mf
