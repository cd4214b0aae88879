#include "datasets/source_hash.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/threads.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string sha256_folder(const std::string& folder, int threads) {
  const auto files = sorted_files(folder);
  const std::int64_t n = std::ssize(files);
  std::vector<std::pair<std::string, std::string>> hashes(files.size());
  ThreadTeam team(static_cast<int>(std::clamp<std::int64_t>(n, 1, std::max(threads, 1))));
  team.for_chunks(n, 1, [&](std::int64_t i, std::int64_t) {
    const fs::path& file = files[static_cast<std::size_t>(i)];
    hashes[static_cast<std::size_t>(i)] = {file.filename().string(),
                                           uncompressed_sha256(file.string())};
  });
  return combined_sha256(hashes);
}

bool is_packed(Compression compression) {
  return compression != Compression::none && compression != Compression::zip;
}

struct Change {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t latest_ns = 0;  // of content or of what else the system keeps of a file
  std::uint64_t inodes = 0;    // their sum: a file that took another's place, size and times

  void add(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      fail(ErrorKind::io, "{}: cannot be read: {}", path, last_cause());
    }
    if (!S_ISREG(status.st_mode)) {
      fail_in_file(path, "a pipe or a device", "a file",
                   "its bytes are read twice: write them to a file first");
    }
    ++files;
    bytes += status.st_size;
    inodes += status.st_ino;
    latest_ns = std::max({latest_ns, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)});
  }

 private:
  static std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
};

}  // namespace

bool is_compressed(const std::string& path) {
  return fs::is_regular_file(path) && is_packed(detect_compression(map_file(path).view));
}

std::string uncompressed_sha256(const std::string& path, int threads) {
  if (fs::is_directory(path)) return sha256_folder(path, threads);
  const Bytes file = map_file(path);
  const Compression compression = detect_compression(file.view);
  std::string hash =
      sha256(is_packed(compression) ? decompress(path, file, compression).view : file.view);
  fail_if_cut();
  return hash;
}

std::string combined_sha256(
    const std::vector<std::pair<std::string, std::string>>& names_and_hashes) {
  std::string lines;
  for (const auto& [name, hash] : names_and_hashes) {
    if (hash.empty()) return "";
    lines += fmt::format("{}  {}\n", hash, name);
  }
  return names_and_hashes.size() == 1 ? names_and_hashes.front().second : sha256(lines);
}

std::string change_mark(const std::string& path) {
  Change change;
  if (fs::is_directory(path)) {
    for (const auto& file : sorted_files(path)) change.add(file.string());
  } else {
    change.add(path);
  }
  return fmt::format("{} files, {} bytes, {} ns, inodes {}", change.files, change.bytes,
                     change.latest_ns, change.inodes);
}

}  // namespace mf
