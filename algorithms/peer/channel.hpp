// Lines of JSON to and from a process that is not trusted.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json_fwd.hpp"

namespace mf::peer {

inline constexpr std::size_t kLongestLine = 1 << 16;

// Two connected ends. Throws Error(io).
std::pair<FileHandle, FileHandle> make_channel();

class Channel {
 public:
  explicit Channel(FileHandle own) : own_(std::move(own)) {}

  // False where nobody reads any more.
  bool send(const Json& message);

  // The next line, or nothing where the other end is closed or `watch`, which is called ten times a
  // second while nothing comes, says that it is over. Throws Error(io) for a line that is too long.
  std::optional<std::string> receive(const std::function<bool()>& watch);

 private:
  std::optional<std::string> take_line();
  bool read_more();  // false: closed

  FileHandle own_;
  std::string pending_;
};

}  // namespace mf::peer
