#include "datasets/look.hpp"

#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/load.hpp"
#include "datasets/readers/readers.hpp"

namespace mf {
namespace {

std::string formats_of(const Source& source) {
  const auto policy = parse_duplicate_policy(source.duplicates);
  std::set<std::string> formats;
  for (const auto& file : source.files) {
    FirstLook look = look_at_ratings(file.path, read_options(source, file));
    formats.insert(look.format);
    make_ratings(std::move(look.ratings), policy, 1, file.path);  // no pair twice
  }
  return join({formats.begin(), formats.end()}, " and ");
}

}  // namespace

FirstLook first_look(const DatasetRequest& request) {
  if (request.path.empty() && request.train.empty()) return {};
  const Source source = source_of_files(request);
  const SourceFile& file = source.files.front();
  return look_at_ratings(file.path, read_options(source, file));
}

std::string look_at_data(const DatasetRequest& request) {
  if (const std::string why = why_unavailable(request); !why.empty()) {
    throw Error(ErrorKind::data, why);
  }
  if (!request.like.empty()) return "made when it is needed";
  if (!request.expand.empty()) {
    return fresh_cache(request) ? "cached" : "made of " + request.expand + " when it is needed";
  }
  const auto source = source_of(request);
  if (!source) {
    read_cache_head(cache_path(request));
    return "only in the cache (its checksums are looked at when it is loaded)";
  }
  source_key(*source);  // refuses a pipe, which would be waited for
  if (fresh_cache(request)) return "cached";
  // A damaged one is named and built anew when it is loaded.
  std::error_code error;
  const bool stale = std::filesystem::exists(cache_path(request), error);
  return formats_of(*source) + (stale ? ", changed since it was cached" : ", not cached yet");
}

}  // namespace mf
