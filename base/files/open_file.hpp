// The one way to open a file for reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files/files.hpp"

namespace mf {

enum class Origin {
  named,       // by the user: links are followed, a pipe is read to its end
  named_file,  // the same, but it is read more than once: a pipe is refused
  found,       // in a folder that others may write to (held_folder.hpp): no link is followed, no
               // pipe waited for
};

// Never a folder or a device. Throws Error(data) that says what the path is instead, Error(io) if
// this process lacks something (descriptors, the disk).
FileHandle open_file(const std::string& path, Origin origin);
// The same; empty if nothing of that name exists.
std::optional<FileHandle> open_if_there(const std::string& path, Origin origin);

// Throws "path: cannot be `done`: cause": Error(data), or memory or io if this process lacks
// something.
[[noreturn]] void fail_to(const std::string& done, const std::string& path, int error);

std::int64_t size_of(const FileHandle& file);  // now

// changed_ns() of a file of Origin::found; 0 if it is missing. It is opened for that: a network
// file system asks its server then, but may answer stat() from its cache.
std::int64_t changed_ns(const std::string& path);

inline constexpr std::int64_t kMostText = std::int64_t{256} << 20;

// All of it. Throws Error(data) if that is more than `most` bytes.
std::string read_text(const FileHandle& file, const std::string& path,
                      std::int64_t most = kMostText);
std::string read_text(const std::string& path, Origin origin, std::int64_t most = kMostText);

// Whether the user named a folder, or a link to one.
bool is_folder(const std::string& path);

// Whether there is something of that name; a link is something, wherever it leads.
bool is_taken(const std::string& path);

// A folder below `top`, made if missing. Throws Error(io) if one of the names, also in `top`, is a
// link or not a folder (without_links): files would be made elsewhere.
std::string make_folder_in(const std::string& top, const std::string& name);

}  // namespace mf
