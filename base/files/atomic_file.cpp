#include "base/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

[[noreturn]] void fail_to_write(const std::string& path) {
  fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
}

// Removes the leftover of a killed run first.
FileHandle new_file(const FilePlace& place) {
  place.remove();
  return place.make_file(O_WRONLY);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, Origin origin)
    : name_(name_of(path)), temporary_(path + ".tmp", origin), file_(new_file(temporary_)) {
  if (!file_) fail_to_write(temporary_.path());
}

// The file of a process that took over the writing stays.
AtomicFile::~AtomicFile() {
  if (!done_ && (!file_ || temporary_.holds(file_))) temporary_.remove();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(file_, bytes)) fail_to_write(temporary_.path());
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit(Flush flush) {
  const bool now = flush == Flush::to_disk;
  if (!temporary_.holds(file_)) {
    fail(ErrorKind::io, "{}: was replaced while it was written; run the same command again",
         temporary_.path());
  }
  if ((now && ::fsync(file_.fd()) != 0) || !file_.close()) fail_to_write(temporary_.path());
  temporary_.move_to(name_);
  done_ = true;
  if (now) temporary_.sync();
}

void write_atomically(const std::string& path, std::string_view text, Origin origin) {
  AtomicFile file(path, origin);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(const std::string& folder)
    : own_(folder, Origin::found), temporary_(folder + ".tmp", Origin::found) {
  temporary_.remove_tree();  // of a run that was killed
  if (temporary_.make_folder()) filled_ = reach_folder(temporary_.path(), Origin::found);
  if (filled_) return;
  fail(ErrorKind::io, "{}: the folder cannot be created: {}", temporary_.path(), last_cause());
}

AtomicFolder::~AtomicFolder() {
  if (!done_) temporary_.remove_tree();
}

void AtomicFolder::fill(const std::function<void(const std::string& path)>& write) {
  const std::string path = fmt::format("/proc/self/fd/{}", filled_.fd());
  try {
    write(path);
  } catch (const Error& error) {
    throw Error(error.kind(), replaced(error.what(), path + "/", temporary_.path() + "/"));
  }
}

void AtomicFolder::commit() {
  if (!own_.remove_tree())
    fail(ErrorKind::io, "{}: cannot be replaced: {}", own_.path(), last_cause());
  temporary_.move_to(own_.name());
  done_ = true;
}

}  // namespace mf
