// A folder that others may write to: opened once, so that reads below it stay within it, even if
// another folder takes its name meanwhile.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/files/files.hpp"
#include "base/files/open_file.hpp"

namespace mf {

// Until its end, files of Origin::found below this path are reached from the folder that it led to
// at first, with no link on the way. A held folder below another is reached through it. A folder
// that the user named is held if it exists; a folder of Origin::found that cannot be reached has no
// files.
class HeldFolder {
 public:
  explicit HeldFolder(const std::string& path, Origin origin = Origin::named);
  ~HeldFolder();
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;

 private:
  struct Held {
    std::string path;  // without slashes at its end
    std::shared_ptr<const FileHandle> folder;
    int why_not;  // the errno of that
  };
  friend std::optional<FileHandle> open_held(const std::string& path, int flags);
  static std::list<Held>& all();
  static const Held* above(const std::string& path);

  std::optional<std::list<Held>::iterator> own_;
};

// Opens a file below a held folder; empty if none is held above it. An invalid handle: errno says
// why, ENOTDIR if one of its folders is a link.
std::optional<FileHandle> open_held(const std::string& path, int flags);

}  // namespace mf
