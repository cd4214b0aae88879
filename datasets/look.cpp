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

enum class CacheState { none, fresh, stale };

CacheState cache_state(const std::string& path, const std::string& key) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return CacheState::none;
  try {
    return read_cache_head(path).key == key ? CacheState::fresh : CacheState::stale;
  } catch (const Error&) {
    return CacheState::stale;  // damaged: it is named and built anew when it is loaded
  }
}

std::string formats_of(const Source& source) {
  std::set<std::string> formats;
  for (const auto& file : source.files) formats.insert(recognized_format(file.path, file.format));
  return join({formats.begin(), formats.end()}, " and ");
}

}  // namespace

std::string look_at_data(const DatasetRequest& request) {
  if (const std::string why = why_unavailable(request); !why.empty()) {
    throw Error(ErrorKind::data, why);
  }
  if (!request.like.empty()) return "made when it is needed";
  const auto source = source_of(request);
  const std::string cache = cache_path(request);
  if (!source) {
    read_cache_head(cache);
    return "in the cache alone (its checksums are looked at when it is loaded)";
  }
  switch (cache_state(cache, source_key(*source))) {
    case CacheState::fresh:
      return "cached";
    case CacheState::stale:
      return formats_of(*source) + ", changed since it was cached";
    case CacheState::none:
      break;
  }
  return formats_of(*source) + ", not cached yet";
}

}  // namespace mf
