// Files and folders that are there whole or not at all: written under a temporary name beside
// their own, then renamed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/files/files.hpp"

namespace mf {

enum class Flush {
  to_disk,  // on the disk itself when commit returns: lasts over a power cut
  later,    // when the system sees fit: for what is checked when it is read, and can be made again
};

// <path>.tmp until commit; removed where that does not come. Two writers of one path need a claim.
// Throws Error(io) naming the file and the cause.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit(Flush flush = Flush::to_disk);

 private:
  std::string path_, temporary_;
  TemporaryFiles remove_;
  FileHandle file_;
};

void write_atomically(const std::string& path, std::string_view text);

// A folder to be filled at path(), which is <folder>.tmp; commit replaces what was there before.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& folder);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  const std::string& path() const { return temporary_; }
  void commit();

 private:
  std::string folder_, temporary_;
};

}  // namespace mf
