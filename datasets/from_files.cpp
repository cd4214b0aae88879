#include "datasets/from_files.hpp"

#include <filesystem>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/mapped_file.hpp"
#include "base/hash.hpp"
#include "base/host/memory_limit.hpp"
#include "base/json/json.hpp"
#include "base/text.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/readers/text_source.hpp"
#include "datasets/source_hash.hpp"
#include "datasets/split/given_parts.hpp"

namespace mf {
namespace {

constexpr const char* kOwnFiles = "file";  // of the user

using NamesAndHashes = std::vector<std::pair<std::string, std::string>>;

std::vector<SourceFile> all_files(const Source& source) {
  std::vector<SourceFile> files = source.files;
  if (source.probe) files.push_back(*source.probe);
  return files;
}

std::vector<std::string> paths_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.path);
  return paths;
}

std::string verified(const SourceFile& file, std::string found) {
  if (!file.sha256.empty() && found != file.sha256) {
    fail(ErrorKind::data,
         "{}: not the published file: the SHA-256 of its uncompressed content is {}, the catalog's "
         "is {}; fetch it again, or load it as a file of your own with {{\"path\": ...}}",
         file.path, found, file.sha256);
  }
  return found;
}

// Beside the reading. SHA-256 is a chain, one thread a file; if no hash is published, all threads
// hash pieces. Hashing uses the bytes mapped or unpacked for the reader.
class HashesBeside {
 public:
  HashesBeside(std::vector<SourceFile> files, const std::optional<SourceFile>& probe, bool own,
               int threads)
      : files_(std::move(files)), own_(own), threads_(threads), hashes_(files_.size()) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const SourceFile& file = files_[i];
      const bool is_probe = probe && file.path == probe->path;
      if (!is_probe && std::filesystem::is_regular_file(file.path)) continue;  // on_content()
      hashes_[i] = in_thread([path = file.path, own, threads] {
        return own ? own_source_hash(path, threads) : uncompressed_sha256(path, threads);
      });
    }
  }

  void on_content(const std::string& path, const Bytes& content) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].path != path || hashes_[i].valid()) continue;
      hashes_[i] = in_thread([path, content, own = own_, threads = threads_] {
        auto hash = own ? own_content_hash(content.view, threads) : sha256(content.view);
        if (was_cut(content)) fail_cut(path);
        return hash;
      });
    }
  }

  // Waits for all. Throws if a hash is not the expected one.
  NamesAndHashes wait() {
    NamesAndHashes found;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const SourceFile& file = files_[i];
      found.emplace_back(file.name, verified(file, hashes_[i].valid() ? hashes_[i].get()
                                                   : own_ ? own_source_hash(file.path, threads_)
                                                          : uncompressed_sha256(file.path)));
    }
    return found;
  }

 private:
  template <class Work>
  static std::future<std::string> in_thread(Work work) {
    try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {  // no more threads: when it is waited for
      return std::async(std::launch::deferred, work);
    }
  }

  std::vector<SourceFile> files_;
  bool own_;  // files without a published checksum
  int threads_;
  std::vector<std::future<std::string>> hashes_;
};

class SourceReader {
 public:
  SourceReader(const Source& source, int threads)
      : source_(source),
        threads_(threads),
        watch_(paths_of(all_files(source))),
        hashes_(all_files(source), source.probe, source.kind == kOwnFiles, threads) {}

  Dataset read() {
    data_.info.name = source_.name;
    data_.info.source = source_.kind;
    data_.info.scale = source_.scale;
    data_.info.duplicate_policy = source_.duplicates;
    try {
      read_parts();
    } catch (const Error&) {
      watch_.check();
      hashes_.wait();  // "the wrong file" explains more than an error inside it
      throw;
    } catch (const std::bad_alloc&) {
      fail_for_memory();
    }
    const auto start = Clock::now();
    data_.info.content_hash = content_hash(data_.ratings, threads_);
    data_.info.source_hash = combined_sha256(hashes_.wait());
    watch_.check();
    data_.load.hash = seconds_since(start);
    return std::move(data_);
  }

 private:
  // The sizes of the ratings are not known before they are read.
  [[noreturn]] void fail_for_memory() const {
    double bytes = 0;
    for (const auto& path : paths_of(all_files(source_))) {
      std::error_code error;
      if (const auto size = std::filesystem::file_size(path, error); !error) {
        bytes += static_cast<double>(size);
      }
    }
    const MemoryLimit memory = memory_limit();
    fail(ErrorKind::memory,
         "{}: reading its {} takes more memory than this process may have ({} by {}, of which {} "
         "are left); give it more, or read a part",
         source_.name, format_bytes(bytes), format_bytes(static_cast<double>(memory.total.bytes)),
         memory.total.by, format_bytes(static_cast<double>(memory.available.bytes)));
  }

  void read_parts() {
    const auto policy = parse_duplicate_policy(source_.duplicates);
    std::vector<GivenPart> parts;
    for (const auto& file : source_.files) parts.push_back({file.part, file.path, raw_of(file)});
    const auto start = Clock::now();
    DuplicateReport report;
    if (parts.size() == 1 && !source_.test_lines) {
      RawRatings& raw = parts.front().raw;
      TimedIds timed;
      if (source_.times) timed = {raw.users, raw.items, std::move(raw.times)};
      const std::string& path = parts.front().name;
      data_.ratings = make_ratings(std::move(raw), policy, threads_, path, &report);
      if (source_.times) data_.times = times_of(std::move(timed), data_.ratings, threads_, path);
    } else {
      JoinedParts joined =
          join_parts(std::move(parts), policy, threads_, source_.name, &report, source_.test_lines);
      data_.ratings = std::move(joined.ratings);
      const Part first = source_.files.front().part;
      const bool one_part =
          !source_.test_lines && std::ranges::all_of(source_.files, [&](const SourceFile& file) {
            return file.part == first;
          });
      if (!one_part) data_.parts = std::move(joined.labels);
    }
    data_.info.duplicate_pairs = report.pairs;
    data_.load.matrix = seconds_since(start);
    if (source_.probe)
      data_.parts = netflix_probe_parts(data_.ratings, source_.probe->path, threads_);
  }

  RawRatings raw_of(const SourceFile& file) {
    ReadOptions options = read_options(source_, file);
    options.threads = threads_;
    options.times = source_.times && source_.files.size() == 1;
    options.on_content = [&](const Bytes& content) { hashes_.on_content(file.path, content); };
    const auto start = Clock::now();
    RawRatings raw = read_ratings(file.path, options);
    data_.load.read += seconds_since(start);
    return raw;
  }

  const Source& source_;
  int threads_;
  ChangeWatch watch_;
  HashesBeside hashes_;
  Dataset data_;
};

}  // namespace

Source source_of_files(const DatasetRequest& request) {
  Source source;
  source.name = request.path.empty() ? request.train : request.path;
  source.kind = kOwnFiles;
  source.duplicates = request.duplicates;
  source.scale = request.scale;
  source.unrated = request.unrated;
  source.ids = request.ids;
  source.columns = request.columns;
  source.times = request.times;
  const auto add = [&](const std::string& path, Part part) {
    if (path.empty()) return;
    const std::string file = file_of_ratings(path);
    const std::string name = std::filesystem::path(file).filename().string();
    source.files.push_back({file, name, request.format, "", part});
  };
  add(request.path, kTrain);
  add(request.train, kTrain);
  add(request.test, kTest);
  add(request.validation, kValidation);
  return source;
}

ReadOptions read_options(const Source& source, const SourceFile& file) {
  ReadOptions options;
  options.format = file.format;
  options.scale = source.scale;
  options.unrated = source.unrated;
  options.ids = source.ids;
  options.columns = source.columns;
  options.leave_out_damaged = source.damaged_lines;
  return options;
}

Dataset read_source(const Source& source, int threads) {
  return SourceReader(source, threads).read();
}

namespace {

Json key_of_choice(const Source& source) {
  Json files = Json::array();
  for (const auto& file : all_files(source)) {
    files.push_back({{"name", file.name},
                     {"format", file.format},
                     {"sha256", file.sha256},
                     {"part", static_cast<int>(file.part)}});
  }
  Json scale = nullptr;
  if (source.scale) scale = {source.scale->min, source.scale->max, source.scale->step};
  Json key = {{"files", files}, {"duplicates", source.duplicates}, {"scale", scale}};
  // Older caches of "auto" may have integers where there are names. The catalog does not change.
  if (source.kind == kOwnFiles) key["ids"] = kIdKindNames.of(source.ids);
  const ColumnNames& columns = source.columns;
  if (columns.any()) key["columns"] = {columns.user, columns.item, columns.rating};
  if (!columns.time.empty()) key["columns"].push_back(columns.time);
  if (source.unrated) key["unrated"] = *source.unrated;
  if (source.damaged_lines) key["damaged_lines"] = "left out";
  if (source.test_lines) key["test_lines"] = {source.test_lines->first, source.test_lines->last};
  return key;
}

}  // namespace

std::string source_key(const Source& source) {
  Json key = key_of_choice(source);
  const auto files = all_files(source);
  for (std::size_t i = 0; i < files.size(); ++i) {
    key["files"][i]["change"] = change_mark(files[i].path);
  }
  return canonical(key);
}

bool is_key_of(const std::string& key, const Source& source) {
  Json found = Json::parse(key, nullptr, false);
  if (!found.is_object() || !found.contains("files") || !found["files"].is_array()) return false;
  for (Json& file : found["files"]) {
    if (file.is_object()) file.erase("change");
  }
  return canonical(found) == canonical(key_of_choice(source));
}

std::string expected_source_hash(const Source& source) {
  NamesAndHashes hashes;
  for (const auto& file : all_files(source)) hashes.emplace_back(file.name, file.sha256);
  return combined_sha256(hashes);
}

}  // namespace mf
