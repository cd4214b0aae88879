// Takes chosen files out of an archive (zip, tar.*).
//
// Nothing is ever written to a place that a name in the archive decides: only the wanted members
// are written, each to the path given here. An archive with a member that is a link or a device, or
// whose name is absolute or has "..", is refused as a whole, naming the member.
#pragma once

#include <string>
#include <vector>

namespace mf {

struct WantedMember {
  std::string member;  // its name in the archive
  std::string path;    // where it is written; must not exist yet
};

// Throws Error(data) where the archive is damaged, cut, hostile or lacks a wanted member, Error(io)
// where a file cannot be written, Error(unsupported) where this build has no libarchive. What was
// written before an error is removed again.
void unpack(const std::string& archive, const std::vector<WantedMember>& wanted);

}  // namespace mf
