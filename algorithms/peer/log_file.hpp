// A new file for what a process prints, never one that stood there.
#pragma once

#include <optional>
#include <string>

#include "base/files/file_place.hpp"
#include "base/files/files.hpp"

namespace mf::peer {

class LogFile {
 public:
  // Removes what has the name; of a link, only the link. Empty: what is printed is dropped.
  // Throws Error(io).
  explicit LogFile(const std::string& path);
  ~LogFile();  // removes one that nothing was printed to
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  int fd() const { return file_.fd(); }
  // The last line that is not blank, without what a terminal would obey; empty: all are.
  std::string last_line() const;

 private:
  std::optional<FilePlace> place_;
  FileHandle file_;
};

}  // namespace mf::peer
