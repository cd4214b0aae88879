#include "base/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path) {
  fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
}

// What a killed run has left goes first: of a link, only the link.
FileHandle new_file(const std::string& path) {
  ::unlink(path.c_str());
  return FileHandle(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
}

// Whoever took over the writing has put another file under the name.
bool is_still(const FileHandle& file, const std::string& path) {
  struct stat own {
  }, there{};
  return ::fstat(file.fd(), &own) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

// Makes a rename last over a power cut; a file system that cannot is no reason to fail.
void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const FileHandle handle(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle) ::fsync(handle.fd());
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(path), temporary_(path + ".tmp"), file_(new_file(temporary_)) {
  if (!file_) fail_to_write(temporary_);
  remove_.add(temporary_);
}

// The file of whoever took over the writing stays.
AtomicFile::~AtomicFile() {
  if (file_ && !is_still(file_, temporary_)) remove_.keep();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(file_, bytes)) fail_to_write(temporary_);
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit(Flush flush) {
  const bool now = flush == Flush::to_disk;
  if (!is_still(file_, temporary_)) {
    fail(ErrorKind::io, "{}: was replaced while it was written; run the same command again",
         temporary_);
  }
  if ((now && ::fsync(file_.fd()) != 0) || !file_.close()) fail_to_write(temporary_);
  move_file(temporary_, path_);
  remove_.keep();
  if (now) sync_folder_of(path_);
}

void write_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(const std::string& folder)
    : folder_(folder), temporary_(folder + ".tmp") {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);  // of a run that was killed
  make_parent_folder(temporary_);
  if (::mkdir(temporary_.c_str(), 0777) == 0) return;  // never by way of a link
  fail(ErrorKind::io, "{}: the folder cannot be created: {}", temporary_, last_cause());
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

void AtomicFolder::commit() {
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) fail(ErrorKind::io, "{}: cannot be replaced: {}", folder_, cause_of(error.value()));
  move_file(temporary_, folder_);
}

}  // namespace mf
