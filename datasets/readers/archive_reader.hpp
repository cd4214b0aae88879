// Internal: what is packed, read through libarchive: the members of a zip or tar archive, and
// streams of gzip, xz, zstd and bzip2. Damage and cuts are errors, also those that libarchive
// would work around. A build without libarchive refuses, and names the package.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datasets/readers/text_source.hpp"

struct archive;

namespace mf {

bool have_libarchive();

struct ArchiveMember {
  enum class Type { file, folder, symbolic_link, hard_link, other };
  std::string name;
  Type type = Type::file;
};

// One pass through the members. Throws Error(data) naming the path where something is damaged,
// Error(unsupported) where this build has no libarchive.
class ArchiveReader {
 public:
  ArchiveReader(std::string path, const Bytes& bytes);  // zip, or tar however it is compressed
  static ArchiveReader of_stream(std::string path, const Bytes& bytes, Compression compression);

  std::optional<ArchiveMember> next();  // nothing at the end
  // The content of the member that next() returned, piece by piece or as a whole.
  void read(const std::function<void(std::string_view)>& take);
  Bytes read_all();
  // Of a stream that was read to its end: the packed bytes before it.
  std::size_t packed_size() const;

  [[noreturn]] void fail_damaged(const std::string& cause) const;

 private:
  ArchiveReader(std::string path, const Bytes& bytes, Compression compression, bool stream);
  void open(bool stream);
  std::size_t read_some(char* to, std::size_t room);
  void check(int code) const;

  std::string path_;
  Bytes bytes_;
  Compression compression_;
  std::shared_ptr<archive> archive_;
};

}  // namespace mf
