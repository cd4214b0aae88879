// A name in a folder that is held open: files made, replaced or removed under it stay within that
// folder, even if another folder takes its path meanwhile.
#pragma once

#include <string>

#include "base/files/files.hpp"
#include "base/files/open_file.hpp"

namespace mf {

// Opened to reach names within it. Origin::found: no name of the path may be a link. Empty if that
// fails: errno says why.
FileHandle reach_folder(const std::string& path, Origin origin);
// The same for a path below a folder, of which no name may be a link; "": that folder.
FileHandle reach_below(const FileHandle& top, const std::string& path);

// The path of a folder that the user named, with its links resolved: a path for Origin::found.
// Throws Error(io).
std::string without_links(const std::string& folder);

class FilePlace {
 public:
  // The folder is reached as above; if that fails, every call below fails with that cause.
  FilePlace(const std::string& path, Origin origin);

  // A new file, opened with `flags` beside the creating ones; invalid: errno says why.
  FileHandle make_file(int flags) const;
  bool make_folder() const;
  bool is_taken() const;
  // Whether it is still this file.
  bool holds(const FileHandle& file) const;
  void remove() const;       // a file; of a link, only the link
  bool remove_tree() const;  // also a folder with its contents; false: errno says why
  // Renames it to another name in the folder, replacing a file of that name. Throws Error(io).
  void move_to(const std::string& name) const;
  // Makes changes of names survive a power cut; succeeds even if the file system cannot.
  void sync() const;

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }

 private:
  bool is_reached() const;

  std::string path_, name_;
  FileHandle folder_;
  int why_not_;  // the errno of that
};

}  // namespace mf
