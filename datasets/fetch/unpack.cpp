#include "datasets/fetch/unpack.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "datasets/readers/archive_reader.hpp"

namespace mf {
namespace {

// Why a member of this name must not be unpacked, or null.
const char* bad_name(std::string_view name) {
  if (name.empty()) return "has no name";
  if (name.front() == '/' || name.front() == '\\') return "has an absolute path";
  if (name.size() > 1 && name[1] == ':') return "has an absolute path";
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("/\\", at), name.size());
    if (name.substr(at, end - at) == "..") return "leads out of its folder by \"..\"";
    at = end + 1;
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::string& archive, std::string_view member, const char* why) {
  fail(ErrorKind::data, "{}: refused: its member \"{}\" {}; nothing was unpacked", archive, member,
       why);
}

// Never follows a link that lies in its place, and replaces nothing.
FileHandle new_file(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
  return file;
}

const WantedMember* find_wanted(const std::vector<WantedMember>& wanted, std::string_view name) {
  const auto it = std::find_if(wanted.begin(), wanted.end(),
                               [&](const WantedMember& one) { return one.member == name; });
  return it == wanted.end() ? nullptr : &*it;
}

void check_all_there(const std::string& archive, const std::vector<WantedMember>& wanted,
                     const std::vector<std::string>& members) {
  for (const auto& one : wanted) {
    const auto count = std::count(members.begin(), members.end(), one.member);
    if (count == 1) continue;
    fail(ErrorKind::data, "{}: {} member \"{}\" among {}", archive,
         count == 0 ? "no" : "more than one", one.member,
         members.size() <= 12 ? join(members) : fmt::format("{} members", members.size()));
  }
}

void check_member(const std::string& archive, const ArchiveMember& member) {
  using Type = ArchiveMember::Type;
  if (const char* why = bad_name(member.name)) refuse(archive, member.name, why);
  if (member.type == Type::symbolic_link) refuse(archive, member.name, "is a symbolic link");
  if (member.type == Type::hard_link) refuse(archive, member.name, "is a hard link");
  if (member.type == Type::other) refuse(archive, member.name, "is no file");
}

}  // namespace

void unpack(const std::string& archive, const std::vector<WantedMember>& wanted) {
  const Bytes bytes = map_file(archive);
  std::vector<std::string> names;
  for (ArchiveReader reader(archive, bytes); const auto member = reader.next();) {
    check_member(archive, *member);
    names.push_back(member->name);
  }
  check_all_there(archive, wanted, names);
  TemporaryFiles written;
  for (ArchiveReader reader(archive, bytes); const auto member = reader.next();) {
    const WantedMember* one = find_wanted(wanted, member->name);
    if (one == nullptr) continue;
    if (member->type != ArchiveMember::Type::file) refuse(archive, member->name, "is no file");
    const FileHandle file = new_file(one->path);
    written.add(one->path);
    reader.read([&](std::string_view piece) {
      if (write_all(file, piece)) return;
      fail(ErrorKind::io, "{}: cannot be written: {}", one->path, last_cause());
    });
  }
  written.keep();
}

}  // namespace mf
