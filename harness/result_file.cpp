#include "harness/result_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace mf {

ResultWriter::ResultWriter(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_) {
    fail(ErrorKind::io, "{}: cannot be written: {}; choose another folder with --out", path,
         std::strerror(errno));
  }
}

void ResultWriter::append(const Json& line) {
  const off_t before = ::lseek(file_.fd(), 0, SEEK_END);
  if (write_all(file_, line.dump() + "\n")) return;
  const int cause = errno;
  // The torn line goes; if even that fails, readers stop at it.
  if (::ftruncate(file_.fd(), before) != 0) {
  }
  fail(ErrorKind::io,
       "{}: cannot be written: {}; the results before this line are kept, free some space and run "
       "the same command again",
       path_, std::strerror(cause));
}

void ResultWriter::sync() {
  if (::fsync(file_.fd()) != 0 && errno != EINVAL) {
    fail(ErrorKind::io, "{}: cannot be written to the disk: {}", path_, std::strerror(errno));
  }
}

std::optional<ResultFile> read_result_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  ResultFile result;
  std::string line;
  while (std::getline(in, line)) {
    // getline also returns a last line without its end: one that was being written.
    if (in.eof()) break;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("type")) break;
    const auto type = json["type"].get<std::string>();
    if (type == "header") result.header = json;
    if (type == "trace") result.trace.push_back(json);
    if (type == "footer") result.footer = json;
  }
  if (!result.header.is_object()) return std::nullopt;
  return result;
}

FolderLock::FolderLock(const std::string& folder) {
  try {
    make_folder(folder);
    lock_ = FileLock::if_free(folder + "/.lock");
  } catch (const Error& error) {
    fail(ErrorKind::io, "{}; choose another folder with --out", error.what());
  }
  if (lock_) return;
  fail(ErrorKind::io,
       "{}: another mfbench run is writing into this folder; wait for it or choose another with "
       "--out",
       folder);
}

std::string set_aside(const std::string& path) {
  for (int n = 1;; ++n) {
    const std::string aside = path + ".partial-" + std::to_string(n);
    if (std::filesystem::exists(aside)) continue;
    std::filesystem::rename(path, aside);
    return aside;
  }
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace mf
