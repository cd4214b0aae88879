// What a process prints: a new file of its own, never one that stood there.
#pragma once

#include <string>

#include "base/files/files.hpp"

namespace mf::peer {

class LogFile {
 public:
  // What has the name is removed: of a link, the link only. Empty: what is printed is dropped.
  // Throws Error(io).
  explicit LogFile(const std::string& path);
  ~LogFile();  // removes one that nothing was printed to
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  int fd() const { return file_.fd(); }
  // The last that says something, without what a terminal would obey; empty: no line does.
  std::string last_line() const;

 private:
  std::string path_;
  FileHandle file_;
};

}  // namespace mf::peer
