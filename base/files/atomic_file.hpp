// Files and folders that are there whole or not at all: written under a temporary name beside
// their own, then renamed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file_place.hpp"
#include "base/files/files.hpp"
#include "base/files/open_file.hpp"

namespace mf {

enum class Flush {
  to_disk,  // on the disk itself when commit returns: lasts over a power cut
  later,    // when the system sees fit: for files that are checked on reading and can be made again
};

// <path>.tmp until commit; removed without one. Two writers of one path need a claim. In the folder
// that the path led to as it began, by way of links for a path that the user named. Throws
// Error(io) naming the file and the cause.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, Origin origin = Origin::named);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit(Flush flush = Flush::to_disk);

 private:
  std::string name_;
  FilePlace temporary_;
  FileHandle file_;
  bool done_ = false;
};

void write_atomically(const std::string& path, std::string_view text,
                      Origin origin = Origin::named);

// Fills <folder>.tmp; commit puts it in the place of <folder>. The parent folder must exist, and
// its path must have no links (Origin::found).
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& folder);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  // `write` makes files below its argument, a path that leads to this folder even if its name is
  // taken. Errors name the folder.
  void fill(const std::function<void(const std::string& path)>& write);
  void commit();

 private:
  FilePlace own_, temporary_;
  FileHandle filled_;
  bool done_ = false;
};

}  // namespace mf
