#include "datasets/cache.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/claim.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "datasets/cache_file.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::array<std::span<const std::byte>, kSections> sections_of(const Dataset& data) {
  const Ratings& ratings = data.ratings;
  return {ratings.users().bytes(),
          ratings.items().bytes(),
          ratings.values().bytes(),
          ratings.user_offsets().bytes(),
          ratings.user_ids().bytes(),
          ratings.item_ids().bytes(),
          data.parts.all.bytes(),
          ratings.user_names().offsets().bytes(),
          ratings.user_names().bytes().bytes(),
          ratings.item_names().offsets().bytes(),
          ratings.item_names().bytes().bytes(),
          data.times.all.bytes()};
}

Json to_json(const DatasetInfo& info, const std::string& key) {
  Json scale = nullptr;
  if (info.scale) scale = {info.scale->min, info.scale->max, info.scale->step};
  return {{"name", info.name},
          {"look_alike", info.look_alike},
          {"source", info.source},
          {"source_hash", info.source_hash},
          {"scale", scale},
          {"duplicate_pairs", info.duplicate_pairs},
          {"duplicate_policy", info.duplicate_policy},
          {"content_hash", info.content_hash},
          {"key", key}};
}

void write_padding(AtomicFile& file, std::uint64_t bytes) {
  constexpr std::array<std::byte, kAlignment> zeros{};
  file.write(std::span(zeros).first(static_cast<std::size_t>(round_up(bytes) - bytes)));
}

// Removes files that killed processes left half written. Their claims are free.
void remove_left_over(const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), error)) {
    const fs::path& other = entry.path();
    if (!other.string().ends_with(".mfc.tmp") || other == path + ".tmp") continue;
    try {
      const fs::path its_cache = fs::path(other).replace_extension();
      if (const auto claim = FileClaim::if_free(its_cache.string())) fs::remove(other, error);
    } catch (const Error&) {  // in a folder of others
    }
  }
}

// The caller has the claim: no other process writes to the temporary file.
void write_claimed(const FileClaim& claim, const std::string& path, const Dataset& data,
                   const std::string& key, int threads, Flush flush) {
  remove_left_over(path);
  DatasetInfo info = data.info;
  if (info.content_hash == 0) info.content_hash = content_hash(data.ratings, threads);
  // Paths need not be UTF-8; JSON text must be.
  Json described = to_json(info, key);
  if (!data.times.empty()) described[kFractionsKept] = true;
  const std::string json = described.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto sections = sections_of(data);

  FixedHeader header;
  header.json_bytes = json.size();
  header.header_bytes = round_up(sizeof(FixedHeader) + json.size());
  header.n_users = data.ratings.n_users();
  header.n_items = data.ratings.n_items();
  header.nnz = data.ratings.nnz();
  header.n_parts = data.parts.all.size();
  header.user_name_bytes = data.ratings.user_names().bytes().size_bytes();
  header.item_name_bytes = data.ratings.item_names().bytes().size_bytes();
  const bool named = header.user_name_bytes > 0 || header.item_name_bytes > 0;
  header.version = !data.times.empty() ? kTimedVersion : named ? kNamedVersion : kPlainVersion;
  header.file_bytes = total_bytes(header);
  for (std::size_t s = 0; s < sections_in(header); ++s) {
    header.hash_of(s) = hash64_parallel(sections[s], s, threads);
  }
  std::string rest = json;
  rest.resize(static_cast<std::size_t>(header.header_bytes) - sizeof(FixedHeader), '\0');
  header.header_hash = hash_header(header, std::as_bytes(std::span<const char>(rest)));

  AtomicFile file(path);
  file.write(std::as_bytes(std::span<const FixedHeader>(&header, 1)));
  file.write(std::as_bytes(std::span<const char>(rest)));
  for (const auto section : sections) {
    file.write(section);
    write_padding(file, section.size());
  }
  claim.check();
  file.commit(flush);
}

// The cached data set, or nothing and why it cannot be used (no reason where there is no file).
std::optional<Dataset> usable(const std::string& path, const std::string& key, int threads,
                              bool times, std::string& why_not) {
  why_not.clear();
  if (std::error_code error; !fs::exists(path, error)) return std::nullopt;
  try {
    const CacheHead head = read_cache_head(path);
    if (head.key == key && times && !head.has_times) return std::nullopt;
    if (head.key == key) return read_cache(path, threads, times);
    why_not = fmt::format("{}: the cache is stale: its source or the options have changed", path);
  } catch (const Error& error) {
    why_not = error.what();
  }
  return std::nullopt;
}

// Null where the folder takes no files.
std::unique_ptr<FileClaim> try_claim(const std::string& path, std::string& why_not) {
  try {
    make_parent_folder(path);
    if (auto claim = FileClaim::if_free(path)) return claim;
  } catch (const Error& error) {
    why_not = error.what();
    return nullptr;
  }
  return std::make_unique<FileClaim>(path);  // throws what ends its wait
}

std::string folder_without_home() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  std::error_code error;
  const fs::path home = found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
  if (home.has_relative_path() && fs::is_directory(home, error)) {
    return (home / ".cache" / "mfbench").string();
  }
  return ".mfbench-cache";
}

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("MFBENCH_CACHE"); own != nullptr && *own != '\0') return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    return (fs::path(xdg) / "mfbench").string();
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return (fs::path(home) / ".cache" / "mfbench").string();
  }
  static const std::string instead = [] {
    std::string folder = folder_without_home();
    warn("HOME is not set: the cache is in {}; MFBENCH_CACHE says where it should be", folder);
    return folder;
  }();
  return instead;
}

void write_cache(const std::string& path, const Dataset& data, int threads, const std::string& key,
                 bool replace) {
  make_parent_folder(path);
  const FileClaim claim(path);
  if (std::error_code error; !replace && fs::exists(path, error)) {
    fail(ErrorKind::usage, "{}: was made meanwhile, by another process", path);
  }
  write_claimed(claim, path, data, key, threads, Flush::to_disk);
}

void remove_cache(const std::string& path) {
  const FileClaim claim(path);
  std::error_code error;
  fs::remove(path, error);
  if (error) fail(ErrorKind::io, "{}: cannot be removed: {}", path, cause_of(error.value()));
}

Dataset cached(const std::string& path, const std::string& key,
               const std::function<Dataset()>& build, int threads, bool times) {
  std::string why_stale;
  if (auto data = usable(path, key, threads, times, why_stale)) return std::move(*data);
  std::string why_unclaimed;
  const auto claim = try_claim(path, why_unclaimed);
  if (claim) {
    // Whoever had the claim may have built what is wanted here.
    if (auto data = usable(path, key, threads, times, why_stale)) return std::move(*data);
  }
  if (!why_stale.empty()) warn("{}; rebuilding it", why_stale);
  Dataset data = build();
  if (data.info.content_hash == 0) data.info.content_hash = content_hash(data.ratings, threads);
  const auto start = Clock::now();
  try {
    if (!claim) fail(ErrorKind::io, "{}", why_unclaimed);
    write_claimed(*claim, path, data, key, threads, Flush::later);
  } catch (const Error& error) {
    warn("not cached, will be built again next time: {}", error.what());
  }
  data.load.cache = seconds_since(start);
  return data;
}

}  // namespace mf
