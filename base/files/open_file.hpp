// The one way to open a file for reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files/files.hpp"

namespace mf {

enum class Origin {
  named,       // by the user: a link leads where it leads, a pipe is read to its end
  named_file,  // the same, but it is read more than once: a pipe is refused
  found,       // in a folder that others may write to (held_folder.hpp): no link is followed, no
               // pipe waited for
};

// Never a folder or a device. Throws Error(data) that says what stands there, Error(io) where this
// process lacks something (descriptors, the disk).
FileHandle open_file(const std::string& path, Origin origin);
// The same; nothing where there is no file, nor anything else, of that name.
std::optional<FileHandle> open_if_there(const std::string& path, Origin origin);

std::int64_t size_of(const FileHandle& file);  // as it is now

// changed_ns() of a file of Origin::found; 0 if it is missing. It is opened for that: a network
// file system asks its server then, and may answer stat() by what it remembers.
std::int64_t changed_ns(const std::string& path);

inline constexpr std::int64_t kMostText = std::int64_t{256} << 20;

// All of it. Throws Error(data) where that is more than `most` bytes.
std::string read_text(const FileHandle& file, const std::string& path,
                      std::int64_t most = kMostText);
std::string read_text(const std::string& path, Origin origin, std::int64_t most = kMostText);

// Whether the user named a folder, or a link to one.
bool is_folder(const std::string& path);

// Whether there is something of that name; a link is something, wherever it leads.
bool is_taken(const std::string& path);

// A folder below `top`, made where it is not there. Throws Error(io) where one of the names is a
// link or no folder, those of `top` too (without_links): files would be made elsewhere.
std::string make_folder_in(const std::string& top, const std::string& name);

}  // namespace mf
