#include "datasets/unpack.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/text_source.hpp"
#include "datasets/zip_file.hpp"

#ifdef MF_HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

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

// Paths written so far; removed again unless all went well.
class Written {
 public:
  Written() = default;
  ~Written() {
    for (const auto& path : paths_) ::unlink(path.c_str());
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  void add(const std::string& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

// A new file; never follows a link that lies in its place.
class NewFile {
 public:
  NewFile(const std::string& path, Written& written) : path_(path) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path, std::strerror(errno));
    written.add(path);
  }
  ~NewFile() { ::close(fd_); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail(ErrorKind::io, "{}: cannot be written: {}", path_, std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
};

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

void unpack_zip(const std::string& archive, const std::vector<WantedMember>& wanted,
                Written& written) {
  const Bytes bytes = map_file(archive);
  const auto members = zip_members(archive, bytes);
  std::vector<std::string> names;
  for (const auto& member : members) {
    if (const char* why = bad_name(member.name)) refuse(archive, member.name, why);
    names.push_back(member.name);
  }
  check_all_there(archive, wanted, names);
  for (const auto& member : members) {
    if (const WantedMember* one = find_wanted(wanted, member.name)) {
      NewFile(one->path, written).write(read_zip_member(archive, bytes, member).view);
    }
  }
}

#ifdef MF_HAVE_LIBARCHIVE

class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path)
      : path_(path), archive_(archive_read_new(), archive_read_free) {
    archive_read_support_filter_all(archive_.get());
    archive_read_support_format_zip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    check(archive_read_open_filename(archive_.get(), path.c_str(), std::size_t{1} << 20));
  }

  // The next member, or null at the end.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(archive_.get(), &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    check(code);
    return entry;
  }

  void write_to(NewFile& file) {
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
      const la_ssize_t got = archive_read_data(archive_.get(), buffer.data(), buffer.size());
      if (got < 0) check(static_cast<int>(got));
      if (got <= 0) return;
      file.write({buffer.data(), static_cast<std::size_t>(got)});
    }
  }

 private:
  // A warning of libarchive means damage that it worked around: not good enough for data.
  void check(int code) {
    if (code == ARCHIVE_OK) return;
    const char* cause = archive_error_string(archive_.get());
    fail(ErrorKind::data, "{}: the archive is damaged or cut short: {}", path_,
         cause != nullptr ? cause : "no cause given");
  }

  std::string path_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

void check_member(const std::string& archive, archive_entry* entry) {
  const char* text = archive_entry_pathname(entry);
  const std::string name = text != nullptr ? text : "";
  if (const char* why = bad_name(name)) refuse(archive, name, why);
  if (archive_entry_symlink(entry) != nullptr) refuse(archive, name, "is a symbolic link");
  if (archive_entry_hardlink(entry) != nullptr) refuse(archive, name, "is a hard link");
  const auto type = archive_entry_filetype(entry);
  if (type != AE_IFREG && type != AE_IFDIR) refuse(archive, name, "is no file");
}

void unpack_libarchive(const std::string& archive, const std::vector<WantedMember>& wanted,
                       Written& written) {
  std::vector<std::string> names;
  {
    ArchiveReader reader(archive);
    while (archive_entry* entry = reader.next()) {
      check_member(archive, entry);
      names.emplace_back(archive_entry_pathname(entry));
    }
  }
  check_all_there(archive, wanted, names);
  ArchiveReader reader(archive);
  while (archive_entry* entry = reader.next()) {
    const WantedMember* one = find_wanted(wanted, archive_entry_pathname(entry));
    if (one == nullptr) continue;
    if (archive_entry_filetype(entry) != AE_IFREG) refuse(archive, one->member, "is no file");
    NewFile file(one->path, written);
    reader.write_to(file);
  }
}

constexpr bool kHaveLibarchive = true;

#else

void unpack_libarchive(const std::string& archive, const std::vector<WantedMember>&, Written&) {
  fail(ErrorKind::unsupported,
       "{}: found no zip archive; others need libarchive, and this build has none: unpack it by "
       "hand",
       archive);
}

constexpr bool kHaveLibarchive = false;

#endif

}  // namespace

void unpack(const std::string& archive, const std::vector<WantedMember>& wanted,
            Unpacker unpacker) {
  const Bytes bytes = map_file(archive);
  const bool zip = detect_compression(bytes.view) == Compression::zip;
  Written written;
  if (unpacker == Unpacker::zip || (zip && !kHaveLibarchive && unpacker == Unpacker::automatic)) {
    unpack_zip(archive, wanted, written);
  } else {
    // libarchive makes do with a zip archive whose directory is cut off; that hides what is
    // missing.
    if (zip) zip_members(archive, bytes);
    unpack_libarchive(archive, wanted, written);
  }
  written.keep();
}

}  // namespace mf
