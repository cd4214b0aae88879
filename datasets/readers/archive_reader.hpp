// Internal: packed files, read through libarchive: the members of a zip or tar archive, and streams
// of gzip, xz, zstd and bzip2. Damage and cuts are errors, also those that libarchive would work
// around. A build without libarchive refuses, and names the package.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "datasets/readers/text_source.hpp"

struct archive;

namespace mf {

bool have_libarchive();

struct ArchiveMember {
  std::string name;
  bool file = false;  // no folder or link
};

// One pass through the members. Throws Error(data) naming the path if something is damaged,
// Error(unsupported) if this build has no libarchive.
class ArchiveReader {
 public:
  // For an archive, or for a compressed file, which is one member without a name.
  ArchiveReader(std::string path, const Bytes& bytes, Compression compression = Compression::zip);

  std::optional<ArchiveMember> next();  // nothing at the end
  Bytes read_all();                     // the content of the member that next() returned
  // For a stream that was read to its end: the packed bytes before it.
  std::size_t packed_size() const;

  [[noreturn]] void fail_damaged(const std::string& cause) const;

 private:
  void open();
  std::size_t read_some(char* to, std::size_t room);
  void check(int code) const;

  std::string path_;
  Bytes bytes_;
  Compression compression_;
  std::shared_ptr<archive> archive_;
};

}  // namespace mf
