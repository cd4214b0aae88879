// The bytes of a file, memory-mapped.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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

// The file as it lies on disk: mapped if it is a regular file, a pipe read to its end. Throws what
// open_file() throws.
//
// A mapped file that is cut short reads as zeros from there on, where the system would end
// the program (SIGBUS); fail_if_cut() tells. Newlines follow its last page, so that what looks for
// the end of a line finds one, even where that of the file is gone.
Bytes map_file(const std::string& path, Origin origin = Origin::named);

[[noreturn]] void fail_cut(const std::string& path);
// Throws Error(data) if a file was cut short while it was mapped since the last call that threw. To
// be called when what was read of mapped files is to be relied on.
void fail_if_cut();

// What `read` finds in mapped files. That one was cut short says more than what is wrong with what
// is left of it, and is not left for whoever reads another file.
template <class Read>
auto of_whole_files(const Read& read) {
  try {
    auto found = read();
    fail_if_cut();
    return found;
  } catch (const Error&) {
    fail_if_cut();
    throw;
  }
}

}  // namespace mf
