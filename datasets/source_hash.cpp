#include "datasets/source_hash.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/hash.hpp"
#include "base/threads.hpp"
#include "datasets/readers/text_source.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error) fail(ErrorKind::data, "{}: cannot be listed: {}", folder, cause_of(error.value()));
  for (const auto& entry : entries) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_packed(Compression compression) {
  return compression != Compression::none && compression != Compression::zip;
}

using HashText = std::string (*)(std::string_view, int threads);

std::string hash_of(const std::string& path, int threads, HashText hash);

std::string hash_folder(const std::string& folder, int threads, HashText hash) {
  const auto files = sorted_files(folder);
  const std::int64_t n = std::ssize(files);
  std::vector<std::pair<std::string, std::string>> hashes(files.size());
  ThreadTeam team(static_cast<int>(std::clamp<std::int64_t>(n, 1, std::max(threads, 1))));
  const int of_file = std::max(1, threads / team.size());
  team.for_chunks(n, 1, [&](std::int64_t i, std::int64_t) {
    const fs::path& file = files[static_cast<std::size_t>(i)];
    hashes[static_cast<std::size_t>(i)] = {file.filename().string(),
                                           hash_of(file.string(), of_file, hash)};
  });
  return combined_sha256(hashes);
}

std::string hash_of(const std::string& path, int threads, HashText hash) {
  if (fs::is_directory(path)) return hash_folder(path, threads, hash);
  return of_whole_files([&] {
    const Bytes file = map_file(path);
    const Compression compression = detect_compression(file.view);
    return hash(is_packed(compression) ? decompress(path, file, compression).view : file.view,
                threads);
  });
}

std::string chain_hash(std::string_view text, int) { return sha256(text); }

struct Change {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  // The size, the times (of content and of metadata) and the inode of each: a file may take
  // another's place, size and time. No sum or latest time: a time may lie ahead.
  std::string lines;

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
    lines +=
        fmt::format("{} {} {} {} {}\n", status.st_size, nanoseconds(status.st_mtim),
                    nanoseconds(status.st_ctim), status.st_ino, fs::path(path).filename().string());
  }

 private:
  static std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
};

}  // namespace

std::string uncompressed_sha256(const std::string& path, int threads) {
  return hash_of(path, threads, chain_hash);
}

std::string own_source_hash(const std::string& path, int threads) {
  return hash_of(path, threads, own_content_hash);
}

std::string own_content_hash(std::string_view content, int threads) {
  const auto bytes = static_cast<std::int64_t>(content.size());
  if (bytes <= kTreePiece) return sha256(content);
  const std::int64_t pieces = (bytes + kTreePiece - 1) / kTreePiece;
  std::vector<std::string> hashes(static_cast<std::size_t>(pieces));
  const auto hash_piece = [&](std::int64_t i) {
    hashes[static_cast<std::size_t>(i)] = sha256(content.substr(
        static_cast<std::size_t>(i * kTreePiece), static_cast<std::size_t>(kTreePiece)));
  };
  try {
    ThreadTeam team(static_cast<int>(std::clamp<std::int64_t>(pieces, 1, std::max(threads, 1))));
    team.for_chunks(pieces, 1, [&](std::int64_t i, std::int64_t) { hash_piece(i); });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;  // no more threads: use this one
    for (std::int64_t i = 0; i < pieces; ++i) hash_piece(i);
  }
  std::string lines;
  for (const std::string& hash : hashes) lines += hash + "\n";
  return "sha256-tree16m:" + sha256(lines);
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
  return fmt::format("{} files, {} bytes, mark {}", change.files, change.bytes,
                     sha256(change.lines).substr(0, 16));
}

ChangeWatch::ChangeWatch(const std::vector<std::string>& paths) {
  for (const auto& path : paths) marks_.emplace_back(path, change_mark(path));
}

void ChangeWatch::check() const {
  for (const auto& [path, before] : marks_) {
    const std::string now = change_mark(path);
    if (now == before) continue;
    fail(ErrorKind::data,
         "{}: changed while it was read: found {}, expected {} as it began; load it again when "
         "it is not written to",
         path, now, before);
  }
}

}  // namespace mf
