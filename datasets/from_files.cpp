#include "datasets/from_files.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "datasets/given_parts.hpp"
#include "datasets/readers/readers.hpp"
#include "datasets/source_hash.hpp"

namespace mf {
namespace {

using NamesAndHashes = std::vector<std::pair<std::string, std::string>>;

std::vector<SourceFile> all_files(const Source& source) {
  std::vector<SourceFile> files = source.files;
  if (source.probe) files.push_back(*source.probe);
  return files;
}

std::string verified_sha256(const SourceFile& file) {
  const std::string found = uncompressed_sha256(file.path);
  if (!file.sha256.empty() && found != file.sha256) {
    fail(ErrorKind::data,
         "{}: not the published file: the SHA-256 of its uncompressed content is {}, the catalog's "
         "is {}; fetch it again, or load it as a file of your own with {{\"path\": ...}}",
         file.path, found, file.sha256);
  }
  return found;
}

// Ratings of one file; `pairs` grows by its duplicate pairs.
Ratings read_one(const SourceFile& file, const Source& source, int threads, std::int64_t& pairs) {
  ReadOptions options;
  options.format = file.format;
  options.scale = source.scale;
  options.ids = source.ids;
  options.threads = threads;
  DuplicateReport report;
  Ratings ratings =
      make_ratings(read_ratings(file.path, options), parse_duplicate_policy(source.duplicates),
                   threads, file.path, &report);
  pairs += report.pairs;
  return ratings;
}

}  // namespace

Source source_of_files(const DatasetRequest& request) {
  Source source;
  source.name = request.path.empty() ? request.train : request.path;
  source.kind = "file";
  source.duplicates = request.duplicates;
  source.scale = request.scale;
  source.ids = request.ids;
  const auto add = [&](const std::string& path, Part part) {
    if (path.empty()) return;
    const std::string name = std::filesystem::path(path).filename().string();
    source.files.push_back({path, name, request.format, "", part});
  };
  add(request.path, kTrain);
  add(request.train, kTrain);
  add(request.test, kTest);
  add(request.validation, kValidation);
  return source;
}

Dataset read_source(const Source& source, int threads) {
  NamesAndHashes hashes;
  for (const auto& file : all_files(source)) hashes.emplace_back(file.name, verified_sha256(file));

  Dataset data;
  data.info.name = source.name;
  data.info.source = source.kind;
  data.info.source_hash = combined_sha256(hashes);
  data.info.scale = source.scale;
  data.info.duplicate_policy = source.duplicates;
  if (source.files.size() == 1) {
    data.ratings = read_one(source.files.front(), source, threads, data.info.duplicate_pairs);
    if (source.probe) data.parts = netflix_probe_parts(data.ratings, source.probe->path, threads);
  } else {
    std::vector<GivenPart> parts;
    for (const auto& file : source.files) {
      parts.push_back(
          {file.part, file.path, read_one(file, source, threads, data.info.duplicate_pairs)});
    }
    JoinedParts joined = join_parts(parts, threads, source.name);
    data.ratings = std::move(joined.ratings);
    data.parts = std::move(joined.labels);
  }
  data.info.content_hash = content_hash(data.ratings, threads);
  return data;
}

std::string source_key(const Source& source) {
  Json files = Json::array();
  for (const auto& file : all_files(source)) {
    files.push_back({{"name", file.name},
                     {"format", file.format},
                     {"sha256", file.sha256},
                     {"part", static_cast<int>(file.part)},
                     {"change", change_mark(file.path)}});
  }
  Json scale = nullptr;
  if (source.scale) scale = {source.scale->min, source.scale->max, source.scale->step};
  Json key = {{"files", files}, {"duplicates", source.duplicates}, {"scale", scale}};
  if (source.ids != IdKind::automatic) key["ids"] = kIdKindNames.of(source.ids);
  return canonical(key);
}

std::string expected_source_hash(const Source& source) {
  NamesAndHashes hashes;
  for (const auto& file : all_files(source)) hashes.emplace_back(file.name, file.sha256);
  return combined_sha256(hashes);
}

}  // namespace mf
