#include "datasets/request.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "datasets/fetch/catalog.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& path) {
  return path.empty() ? "" : fs::absolute(path).lexically_normal().string();
}

// Letters, digits and . _ - only: a cache's name is a file name.
std::string plain(std::string text) {
  for (char& c : text) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!keep) c = '_';
  }
  return text.substr(0, 60);
}

// Nothing where it is not said, so that older caches keep their names.
std::string reading_suffix(const DatasetRequest& request) {
  const ColumnNames& columns = request.columns;
  return (request.ids == IdKind::automatic ? "" : "\nids " + kIdKindNames.of(request.ids)) +
         (columns.any() ? "\ncolumns " + join({columns.user, columns.item, columns.rating}, "\n")
                        : "") +
         (columns.time.empty() ? "" : "\ntime " + columns.time) +
         (request.unrated ? fmt::format("\nunrated {}", *request.unrated) : "");
}

std::string file_cache_name(const DatasetRequest& request) {
  const std::string first = absolute(request.path.empty() ? request.train : request.path);
  std::string scale;
  if (request.scale) {
    scale = fmt::format("{} {} {}", request.scale->min, request.scale->max, request.scale->step);
  }
  const std::string identity = join({first, absolute(request.test), absolute(request.validation),
                                     request.format, request.duplicates, scale},
                                    "\n") +
                               reading_suffix(request);
  return fmt::format("{}@{}", plain(fs::path(first).stem().string()),
                     sha256(identity).substr(0, 10));
}

// "ratings.csv" of any path to it; with its folder's name where it is one of several parts.
std::string file_label(const DatasetRequest& request) {
  const bool parts = request.path.empty();
  fs::path path = fs::path(parts ? request.train : request.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a folder, written with a '/' at its end
  const std::string folder = path.parent_path().filename().string();
  const bool with_folder = parts && !folder.empty() && folder != "." && folder != "..";
  return (with_folder ? folder + "/" : "") + path.filename().string();
}

std::string usual_policy(const DatasetRequest& request) {
  if (request.name.empty()) return "error";
  const CatalogEntry* entry = catalog_entry_or_null(request.name);
  return entry == nullptr ? request.duplicates : entry->duplicates;
}

std::string policy_suffix(const DatasetRequest& request) {
  return request.duplicates == usual_policy(request) ? "" : "+" + request.duplicates;
}

std::string ratings_label(const DatasetRequest& request) {
  if (!request.like.empty()) {
    const double factor = request.scale_factor;
    return fmt::format("{} look-alike{}{}", fs::path(request.like).filename().string(),
                       factor == 1.0 ? "" : fmt::format(" x{}", factor),
                       request.seed == 1 ? "" : fmt::format(" seed{}", request.seed));
  }
  if (!request.expand.empty()) {
    return fmt::format("{} expanded {}x{}{}", request.expand, request.user_copies,
                       request.item_copies,
                       request.seed == 1 ? "" : fmt::format(" seed{}", request.seed));
  }
  if (request.name.empty()) return file_label(request) + policy_suffix(request);
  const std::string given = request.given.empty() ? "" : "@" + request.given;
  return request.name + given + policy_suffix(request);
}

std::string implicit_suffix(const DatasetRequest& request) {
  if (!request.implicit) return "";
  const bool binary = request.implicit->value == ImplicitValue::binary;
  return fmt::format(" implicit >={}{}", request.implicit->min_rating, binary ? "" : " rating");
}

}  // namespace

std::string DatasetRequest::label() const {
  return own_label.empty() ? ratings_label(*this) + implicit_suffix(*this) : own_label;
}

std::string DatasetRequest::identity() const { return cache_name() + implicit_suffix(*this); }

std::string DatasetRequest::cache_name() const {
  if (!like.empty()) {
    const std::string factor = scale_factor == 1.0 ? "" : fmt::format("-x{}", scale_factor);
    const std::string other = seed == 1 ? "" : fmt::format("-seed{}", seed);
    return fmt::format("{}-look-alike{}{}", like, factor, other);
  }
  if (!expand.empty()) {
    return fmt::format("{}-expanded-{}x{}{}", expand, user_copies, item_copies,
                       seed == 1 ? "" : fmt::format("-seed{}", seed));
  }
  if (name.empty()) return file_cache_name(*this);
  return name + (given.empty() ? "" : "@" + given) + policy_suffix(*this);
}

}  // namespace mf
