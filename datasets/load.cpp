#include "datasets/load.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/expand/expand.hpp"
#include "datasets/fetch/catalog.hpp"
#include "datasets/from_files.hpp"
#include "datasets/implicit_rule.hpp"
#include "datasets/ratings/rating_slice.hpp"
#include "datasets/synthetic/synthetic_profile.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// Part of the cache key of look-alikes: raise it with every change of make_look_alike's output.
constexpr int kLookAlikeVersion = 2;
constexpr int kExpansionVersion = 1;                 // the same of make_expansion
constexpr std::int64_t kSmallLookAlike = 2'000'000;  // ratings: faster made than read and checked

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

SourceFile catalog_source(const CatalogFile& file, const std::string& path, Part part = kTrain) {
  return {path, file.name, file.format, file.sha256, part};
}

// Names of the files that make up the request; any one of the lists will do.
std::vector<std::vector<std::string>> catalog_choices(const CatalogEntry& entry,
                                                      const std::string& given) {
  if (given.empty()) return entry.whole;
  const GivenSplit& split = find_given_split(entry, given);
  if (!split.lines_of.empty()) return {{split.lines_of}};
  if (split.probe.empty()) return {{split.train, split.test}};
  std::vector<std::vector<std::string>> choices = entry.whole;
  for (auto& names : choices) names.push_back(split.probe);
  return choices;
}

// The source whose files have these names; paths are empty if `found` has none.
Source catalog_source_of(const CatalogEntry& entry, const DatasetRequest& request,
                         const std::vector<std::string>& names,
                         const std::vector<std::string>& paths) {
  Source source;
  source.name = entry.name + (request.given.empty() ? "" : "@" + request.given);
  source.kind = "catalog";
  source.duplicates = request.duplicates;
  source.scale = entry.scale;
  source.times = request.times;
  const GivenSplit split =
      request.given.empty() ? GivenSplit() : find_given_split(entry, request.given);
  const bool probe = !split.probe.empty();
  if (!split.lines_of.empty()) source.test_lines = split.test_lines;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Part part = i == 0 || request.given.empty() ? kTrain : kTest;
    const CatalogFile& known = find_catalog_file(entry, names[i]);
    if (i == 0) source.columns = known.columns;
    if (i == 0) source.ids = known.ids;
    source.damaged_lines = source.damaged_lines || known.damaged_lines;
    const SourceFile file = catalog_source(known, paths[i], part);
    if (probe && i + 1 == names.size()) {
      source.probe = file;
    } else {
      source.files.push_back(file);
    }
  }
  return source;
}

std::optional<Source> find_catalog_source(const CatalogEntry& entry,
                                          const DatasetRequest& request) {
  for (const auto& names : catalog_choices(entry, request.given)) {
    std::vector<std::string> paths;
    for (const auto& name : names) {
      if (auto path = find_data_file(entry, name)) paths.push_back(*path);
    }
    if (paths.size() == names.size()) return catalog_source_of(entry, request, names, paths);
  }
  return std::nullopt;
}

// Whether a cache without its source matches the catalog: by the published hash, or, if the files
// have none, because this program made it from files of these names.
bool carried_cache_fits(const CatalogEntry& entry, const DatasetRequest& request,
                        const CacheHead& head) {
  for (const auto& names : catalog_choices(entry, request.given)) {
    const std::vector<std::string> nowhere(names.size());
    const Source source = catalog_source_of(entry, request, names, nowhere);
    const std::string expected = expected_source_hash(source);
    if (expected.empty() ? is_key_of(head.key, source) : expected == head.info.source_hash) {
      return true;
    }
  }
  return false;
}

// Says which files of a catalog entry are missing and how to get them.
std::string how_to_get(const CatalogEntry& entry, const DatasetRequest& request) {
  std::vector<std::string> wanted;
  bool fetched = false;
  for (const auto& names : catalog_choices(entry, request.given)) {
    wanted.push_back(join(names, " with "));
    fetched = fetched || std::all_of(names.begin(), names.end(), [&](const std::string& name) {
                return is_fetched(entry, find_catalog_file(entry, name));
              });
  }
  std::vector<std::string> folders;
  for (const auto& folder : data_folders()) {
    folders.push_back((fs::path(folder) / entry.name).string());
  }
  const std::string missing =
      fmt::format("{}: {} (or .xz, .gz, .zst) not found in {}", request.label(),
                  join(wanted, " or "), join(folders, " or "));
  if (!fetched) return fmt::format("{}. Origin: {}", missing, entry.origin);
  return fmt::format(
      "{}; run `mfbench data fetch {}`, or set MFBENCH_DATA to the folder that holds {}/", missing,
      entry.name, entry.name);
}

// Empty, or how the counts differ from the catalog's.
std::string other_counts(const CatalogEntry& entry, const DatasetRequest& request,
                         const Shape& found) {
  const std::int64_t nnz =
      request.given.empty() ? entry.nnz : find_given_split(entry, request.given).nnz;
  const auto differs = [](std::int64_t expected, std::int64_t is) {
    return expected != 0 && expected != is;
  };
  if (!differs(entry.n_users, found.n_users) && !differs(entry.n_items, found.n_items) &&
      !differs(nnz, found.nnz)) {
    return "";
  }
  return fmt::format("found {} users, {} items and {} ratings, the catalog has {}, {} and {}",
                     found.n_users, found.n_items, found.nnz, entry.n_users, entry.n_items, nnz);
}

std::string why_catalog_unavailable(const CatalogEntry& entry, const DatasetRequest& request) {
  if (find_catalog_source(entry, request)) return "";
  const std::string path = cache_path(request);
  if (!exists(path)) return how_to_get(entry, request);
  try {
    const CacheHead head = read_cache_head(path);
    if (!carried_cache_fits(entry, request, head)) {
      return fmt::format("{}: made from other files (SHA-256 {}) than the catalog's; {}", path,
                         head.info.source_hash, how_to_get(entry, request));
    }
    const std::string counts = other_counts(entry, request, {head.n_users, head.n_items, head.nnz});
    if (counts.empty() || !entry.counts_verified) return "";
    return fmt::format("{}: {}; {}", path, counts, how_to_get(entry, request));
  } catch (const Error& error) {
    return fmt::format("{}; {}", error.what(), how_to_get(entry, request));
  }
}

// Counts that we have recomputed must hold; quoted ones are worth a warning.
void check_counts(const CatalogEntry& entry, const DatasetRequest& request, const Ratings& found) {
  const std::string counts =
      other_counts(entry, request, {found.n_users(), found.n_items(), found.nnz()});
  if (counts.empty()) return;
  if (entry.counts_verified) fail(ErrorKind::data, "{}: {}", request.label(), counts);
  warn("{}: {} (quoted from the literature)", request.label(), counts);
}

Dataset load_catalog(const CatalogEntry& entry, const DatasetRequest& request, int threads) {
  const std::string why = why_catalog_unavailable(entry, request);
  if (!why.empty()) fail(ErrorKind::data, "{}", why);
  const auto source = find_catalog_source(entry, request);
  if (!source) {
    Dataset data = read_cache(cache_path(request), threads, request.times);
    check_counts(entry, request, data.ratings);
    if (request.times && data.times.empty())
      fail(ErrorKind::data, "{}: the cache has no times of the ratings, which its split needs; {}",
           cache_path(request), how_to_get(entry, request));
    return data;
  }
  const auto build = [&] {
    Dataset data = read_source(*source, threads);
    check_counts(entry, request, data.ratings);
    return data;
  };
  return cached(cache_path(request), source_key(*source), build, threads, request.times);
}

std::string look_alike_key(const DatasetRequest& request) {
  return fmt::format("look-alike version {}: {}, factor {}, seed {}", kLookAlikeVersion,
                     request.like, request.scale_factor, request.seed);
}

Dataset load_look_alike(const DatasetRequest& request, int threads) {
  const auto build = [&] {
    const auto start = Clock::now();
    Dataset data = make_look_alike(request.like, request.scale_factor, request.seed, threads);
    data.load.matrix = seconds_since(start);
    if (data.info.content_hash == 0) data.info.content_hash = content_hash(data.ratings, threads);
    return data;
  };
  if (!is_cacheable(request)) return build();
  return cached(cache_path(request), look_alike_key(request), build, threads);
}

Expansion expansion_of(const DatasetRequest& request) {
  return {request.user_copies, request.item_copies, request.seed};
}

// The real set that is enlarged.
DatasetRequest base_of(const DatasetRequest& request) {
  DatasetRequest base;
  base.name = request.expand;
  if (const CatalogEntry* entry = catalog_entry_or_null(base.name)) {
    base.duplicates = entry->duplicates;
  }
  return base;
}

// A name of the catalog stands for its ratings; an imported one may be given to others.
std::string expansion_key(const DatasetRequest& request) {
  std::string content;
  if (catalog_entry_or_null(request.expand) == nullptr) {
    content = fmt::format(" of content {:016x}",
                          read_cache_head(cache_path(base_of(request))).info.content_hash);
  }
  return fmt::format("expansion version {}: {}{}, {}x{}, seed {}", kExpansionVersion,
                     request.expand, content, request.user_copies, request.item_copies,
                     request.seed);
}

// A cache file is used without the set that it was made of.
bool has_expansion(const DatasetRequest& request) {
  const std::string path = cache_path(request);
  if (!exists(path)) return false;
  try {
    return read_cache_head(path).key == expansion_key(request);
  } catch (const Error&) {
    return false;  // it will be rebuilt
  }
}

Dataset load_expansion(const DatasetRequest& request, int threads) {
  if (const std::string why = why_unavailable(request); !why.empty()) {
    fail(ErrorKind::data, "{}", why);
  }
  const auto build = [&] {
    const Dataset base = load_dataset(base_of(request), threads);
    const auto start = Clock::now();
    Dataset data = make_expansion(base, expansion_of(request), threads);
    data.load = base.load;
    data.load.matrix += seconds_since(start);
    return data;
  };
  return cached(cache_path(request), expansion_key(request), build, threads);
}

std::vector<std::string> own_files(const DatasetRequest& request) {
  std::vector<std::string> files = {request.path, request.train, request.test, request.validation};
  std::erase(files, "");
  return files;
}

}  // namespace

namespace {

// An imported set lives only in its cache and cannot be built again.
template <class Read>
auto of_imported(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    fail(ErrorKind::data,
         "{}; if it was imported, `mfbench data import {} FILE --replace` makes "
         "it again",
         error.what(), name);
  }
}

}  // namespace

std::string cache_path(const DatasetRequest& request) {
  return (fs::path(cache_folder()) / (request.cache_name() + ".mfc")).string();
}

bool is_imported(const std::string& name) {
  if (name.find('/') != std::string::npos || catalog_entry_or_null(name) != nullptr) return false;
  const std::string path = (fs::path(cache_folder()) / (name + ".mfc")).string();
  if (!exists(path)) return false;
  return of_imported(name, [&] { return read_cache_head(path); }).key == kImportKey;
}

std::string why_unavailable(const DatasetRequest& request) {
  if (!request.like.empty()) return "";
  if (!request.expand.empty()) {
    return has_expansion(request) ? "" : why_unavailable(base_of(request));
  }
  if (!request.name.empty()) {
    if (const CatalogEntry* entry = catalog_entry_or_null(request.name)) {
      return why_catalog_unavailable(*entry, request);
    }
    if (is_imported(request.name)) return "";
    return fmt::format("{}: neither in the catalog nor imported (no {})", request.name,
                       cache_path(request));
  }
  for (const auto& file : own_files(request)) {
    std::error_code error;
    const auto type = fs::status(file, error).type();
    if (type == fs::file_type::not_found) {
      const bool relative = fs::path(file).is_relative();
      return fmt::format("{}: no such file{}", file,
                         relative ? " in the folder in which mfbench is called" : "");
    }
    if (error) return fmt::format("{}: cannot be read: {}", file, cause_of(error.value()));
  }
  return "";
}

std::optional<std::string> why_no_rating_scale(const DatasetRequest& request) {
  if (request.implicit && request.implicit->value == ImplicitValue::binary) {
    return "observed pairs have no scale";
  }
  if (!request.like.empty()) {
    if (synthetic::find_profile(request.like).values == synthetic::Values::ratings) return {};
    return "its values are counts or pairs, without a scale";
  }
  if (!request.expand.empty()) return why_no_rating_scale(base_of(request));
  if (const CatalogEntry* entry = catalog_entry_or_null(request.name)) {
    if (entry->scale) return {};
    return "its values are counts or pairs, without a scale";
  }
  if (!request.name.empty()) {
    if (read_cache_head(cache_path(request)).info.scale) return {};
    return "it was imported without one; import it again with --rating-scale";
  }
  if (request.scale) return {};
  return R"(declare "rating_scale": {"min": 1, "max": 5, "step": 1} beside its files)";
}

std::optional<std::int64_t> written_at(const DatasetRequest& request) {
  std::optional<std::int64_t> latest;
  const auto look = [&](const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      latest = std::max(latest.value_or(0), std::int64_t{status.st_mtim.tv_sec});
    }
  };
  if (synthetic::is_profile_file(request.like)) look(request.like);
  for (const auto& path : own_files(request)) {
    look(path);
    std::error_code error;  // a folder of files, else no entries
    for (const auto& entry : fs::directory_iterator(path, error)) look(entry.path().string());
  }
  return latest;
}

std::optional<std::string> mark_of_files(const DatasetRequest& request) {
  try {
    const auto source = source_of(request);
    return source ? std::optional(sha256(source_key(*source))) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::uint64_t> known_content(const DatasetRequest& request) {
  if (request.path.empty() || request.implicit) return std::nullopt;
  const auto path = fresh_cache(request);
  return path ? std::optional(read_cache_head(*path).info.content_hash) : std::nullopt;
}

std::optional<Source> source_of(const DatasetRequest& request) {
  if (!request.like.empty() || !request.expand.empty()) return std::nullopt;
  if (request.name.empty()) return source_of_files(request);
  const CatalogEntry* entry = catalog_entry_or_null(request.name);
  return entry != nullptr ? find_catalog_source(*entry, request) : std::nullopt;
}

bool is_cacheable(const DatasetRequest& request) {
  return request.like.empty() ||
         (!synthetic::is_profile_file(request.like) &&
          look_alike_shape(request.like, request.scale_factor).nnz >= kSmallLookAlike);
}

std::optional<Shape> expected_shape(const DatasetRequest& request) {
  if (!request.like.empty()) return look_alike_shape(request.like, request.scale_factor);
  if (!request.expand.empty()) {
    const auto base = expected_shape(base_of(request));
    return base ? std::optional(expanded_shape(*base, expansion_of(request))) : std::nullopt;
  }
  const CatalogEntry* entry = request.name.empty() ? nullptr : catalog_entry_or_null(request.name);
  if (entry != nullptr && entry->nnz != 0) {
    const std::int64_t nnz =
        request.given.empty() ? entry->nnz : find_given_split(*entry, request.given).nnz;
    return Shape{entry->n_users, entry->n_items, nnz};
  }
  const std::string path = cache_path(request);
  if (!exists(path)) return std::nullopt;
  try {
    const CacheHead head = read_cache_head(path);
    return Shape{head.n_users, head.n_items, head.nnz};
  } catch (const Error&) {
    return std::nullopt;  // it will be rebuilt
  }
}

namespace {

Dataset load_unnamed(const DatasetRequest& request, int threads) {
  if (!request.like.empty()) return load_look_alike(request, threads);
  if (!request.expand.empty()) return load_expansion(request, threads);
  const CatalogEntry* entry = request.name.empty() ? nullptr : catalog_entry_or_null(request.name);
  if (entry != nullptr) return load_catalog(*entry, request, threads);
  if (const std::string why = why_unavailable(request); !why.empty())
    fail(ErrorKind::data, "{}", why);
  if (!request.name.empty()) {
    return of_imported(request.name,
                       [&] { return read_cache(cache_path(request), threads, request.times); });
  }
  const Source source = source_of_files(request);
  return cached(
      cache_path(request), source_key(source), [&] { return read_source(source, threads); },
      threads, request.times);
}

}  // namespace

Dataset load_dataset(const DatasetRequest& request, int threads) {
  Dataset data = load_unnamed(request, threads);
  data.info.name = request.label();
  if (!request.implicit) return data;
  const auto start = Clock::now();
  Dataset kept = observed(data, *request.implicit, threads);
  kept.load = data.load;
  kept.load.matrix += seconds_since(start);
  return kept;
}

namespace {

// The key that a cache file must have; empty: any, since the file is the data set.
std::optional<std::string> expected_key(const DatasetRequest& request) {
  if (!request.like.empty()) return look_alike_key(request);
  if (!request.expand.empty()) return expansion_key(request);
  const auto source = source_of(request);
  return source ? std::optional(source_key(*source)) : std::nullopt;
}

}  // namespace

std::optional<std::string> fresh_cache(const DatasetRequest& request) {
  const std::string path = cache_path(request);
  if (!is_cacheable(request) || !exists(path) || !why_unavailable(request).empty())
    return std::nullopt;
  try {
    const auto key = expected_key(request);
    const CacheHead head = read_cache_head(path);
    if ((!key || head.key == *key) && (head.has_times || !request.times)) return path;
  } catch (const Error&) {  // it will be rebuilt
  }
  return std::nullopt;
}

namespace {

// Builds a damaged cache again, if possible, with the warning of load_dataset. Empty for a
// single process, which keeps the set that it builds.
std::optional<CacheSlice> read_or_rebuild(const DatasetRequest& request, const std::string& path,
                                          Communicator& ranks, int threads, ReadColumns columns) {
  try {
    return read_cache_slice(path, ranks, threads, request.times, columns);
  } catch (const RankFault&) {
    throw;
  } catch (const Error& error) {  // of all
    if (error.kind() != ErrorKind::data) throw;
  }
  if (ranks.size() == 1) return std::nullopt;
  // Rank 0 first: the others say nothing and, on its machine, find its cache.
  for (const bool first : {true, false})
    ranks.agree([&] {
      if (ranks.leads() == first) load_dataset(request, threads);
    });
  return read_cache_slice(path, ranks, threads, request.times, columns);
}

}  // namespace

DatasetSlice load_dataset_slice(const DatasetRequest& request, Communicator& ranks, int threads,
                                ReadColumns columns) {
  std::optional<std::string> path;
  ranks.agree([&] {
    if (!request.implicit) path = fresh_cache(request);  // the rule looks at all ratings
  });
  DatasetSlice loaded;
  std::optional<CacheSlice> read;
  if (ranks.all_min(path ? 1 : 0) == 1)
    read = read_or_rebuild(request, *path, ranks, threads, columns);
  if (read) {
    loaded.slice = std::move(*read);
  } else {
    loaded.whole = true;
    ranks.agree([&] { loaded.slice.data = load_dataset(request, threads); });
    const Dataset& data = loaded.slice.data;
    check_same_data(request.label(), data, ranks);
    loaded.slice.users = cut_users_evenly(data.ratings.user_offsets(), ranks.size());
  }
  loaded.slice.data.info.name = request.label();
  return loaded;
}

}  // namespace mf
