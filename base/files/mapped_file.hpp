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

// The file as it lies on disk. A pipe is read to its end. A regular file is mapped within
// of_whole_files(), which asks whether it was cut short, and read into memory elsewhere. Throws
// what open_file() throws, and Error(data) where a file ends before it is read.
//
// A mapped file that is cut short reads as zeros from there on, where the system would end
// the program (SIGBUS). Newlines follow its last page, so that what looks for the end of a line
// finds one, even where that of the file is gone.
Bytes map_file(const std::string& path, Origin origin = Origin::named);

[[noreturn]] void fail_cut(const std::string& path);

// For what reads a mapped file on another thread than of_whole_files().
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

// What `read` finds in files that it maps on this thread. Throws Error(data) where one of them was
// cut short: that says more than what is wrong with what is left of it.
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
