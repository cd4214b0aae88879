#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "datasets/cache.hpp"
#include "datasets/catalog.hpp"
#include "datasets/load.hpp"
#include "datasets/readers.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kPolicies = {"last", "mean", "error"};

std::string required_string(JsonReader& reader, const std::string& key) {
  reader.require(key);
  std::string value = reader.string(key, "");
  if (value.empty()) fail(ErrorKind::usage, "{}: expected a name, found \"\"", reader.path(key));
  return value;
}

// "given" of "split", or empty.
std::string given_split(JsonReader& reader) {
  const Json* split = reader.find("split");
  if (split == nullptr || !split->is_object() || !split->contains("given")) return "";
  JsonReader inner(*split, reader.path("split"));
  return required_string(inner, "given");
}

// Runs `check`, putting the JSON path in front of its message.
template <class Check>
void at_path(const std::string& path, Check check) {
  try {
    check();
  } catch (const Error& error) {
    fail(ErrorKind::usage, "{}: {}", path, error.what());
  }
}

// An imported set has at most one given split, the parts it was imported with.
void parse_imported(JsonReader& reader, DatasetRequest& request) {
  const std::string given = std::exchange(request.given, "");
  const CacheHead head = read_cache_head(cache_path(request));
  request.duplicates = head.info.duplicate_policy;
  if (given.empty() || (given == "imported" && head.has_parts)) return;
  fail(
      ErrorKind::usage, "{}.given: found \"{}\"; {} was imported {}", reader.path("split"), given,
      request.name,
      head.has_parts ? "with parts, which are named \"imported\"" : "without train and test parts");
}

void parse_name(JsonReader& reader, DatasetRequest& request) {
  request.name = required_string(reader, "name");
  request.given = given_split(reader);
  const CatalogEntry* entry = catalog_entry_or_null(request.name);
  if (entry == nullptr) {
    if (!is_imported(request.name)) {
      at_path(reader.path("name"), [&] { find_catalog_entry(request.name); });
    }
    parse_imported(reader, request);
    return;
  }
  request.duplicates = reader.choice("duplicates", entry->duplicates, kPolicies);
  if (!request.given.empty()) {
    at_path(reader.path("split") + ".given", [&] { find_given_split(*entry, request.given); });
  }
}

void parse_like(JsonReader& reader, DatasetRequest& request) {
  request.like = required_string(reader, "like");
  request.scale_factor = reader.number("scale", 1.0, 0, 1000);
  if (request.scale_factor <= 0) {
    fail(ErrorKind::usage, "{}: found {}, expected a number above 0", reader.path("scale"),
         request.scale_factor);
  }
  request.seed = static_cast<std::uint64_t>(reader.integer("seed", 1, 0, INT64_MAX));
  at_path(reader.path("like"), [&] { look_alike_shape(request.like, request.scale_factor); });
}

std::optional<RatingScale> parse_rating_scale(JsonReader& reader) {
  const Json* json = reader.find("rating_scale");
  if (json == nullptr) return std::nullopt;
  JsonReader inner(*json, reader.path("rating_scale"));
  inner.require("min");
  inner.require("max");
  RatingScale scale;
  scale.min = static_cast<float>(inner.number("min", 0, -1e9, 1e9));
  scale.max = static_cast<float>(inner.number("max", 0, -1e9, 1e9));
  scale.step = static_cast<float>(inner.number("step", 0, 0, 1e9));
  inner.finish();
  if (scale.min >= scale.max) {
    fail(ErrorKind::usage, "{}: min {} is not below max {}", reader.path("rating_scale"), scale.min,
         scale.max);
  }
  return scale;
}

void parse_file_options(JsonReader& reader, DatasetRequest& request) {
  std::vector<std::string> formats = {"auto"};
  for (const auto& format : reader_formats()) formats.push_back(format.name);
  request.format = reader.choice("format", "auto", formats);
  request.duplicates = reader.choice("duplicates", "error", kPolicies);
  request.scale = parse_rating_scale(reader);
}

void parse_files(JsonReader& reader, DatasetRequest& request, bool parts) {
  if (parts) {
    request.train = required_string(reader, "train");
    request.test = required_string(reader, "test");
    if (reader.find("validation") != nullptr) {
      request.validation = required_string(reader, "validation");
    }
  } else {
    request.path = required_string(reader, "path");
  }
  parse_file_options(reader, request);
}

std::string absolute(const std::string& path) {
  return path.empty() ? "" : fs::absolute(path).lexically_normal().string();
}

// Letters, digits and . _ - only: a label is part of file names.
std::string plain(std::string text) {
  for (char& c : text) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!keep) c = '_';
  }
  return text.substr(0, 60);
}

std::string file_label(const DatasetRequest& request) {
  const std::string first = absolute(request.path.empty() ? request.train : request.path);
  std::string scale;
  if (request.scale) {
    scale = fmt::format("{} {} {}", request.scale->min, request.scale->max, request.scale->step);
  }
  const std::string identity = join({first, absolute(request.test), absolute(request.validation),
                                     request.format, request.duplicates, scale},
                                    "\n");
  return fmt::format("{}@{}", plain(fs::path(first).stem().string()),
                     sha256(identity).substr(0, 10));
}

}  // namespace

DatasetRequest parse_dataset_request(JsonReader& reader) {
  DatasetRequest request;
  const bool name = reader.find("name") != nullptr;
  const bool like = reader.find("like") != nullptr;
  const bool path = reader.find("path") != nullptr;
  const bool parts = reader.find("train") != nullptr || reader.find("test") != nullptr;
  if (int{name} + int{like} + int{path} + int{parts} != 1) {
    fail(ErrorKind::usage,
         "{}: expected exactly one of \"name\", \"like\", \"path\" and \"train\" with \"test\"",
         reader.where());
  }
  if (name) {
    parse_name(reader, request);
    return request;
  }
  if (!given_split(reader).empty()) {
    fail(ErrorKind::usage, "{}.given: only data sets of the catalog have named splits",
         reader.path("split"));
  }
  if (like) {
    parse_like(reader, request);
  } else {
    parse_files(reader, request, parts);
  }
  return request;
}

Json expand_dataset_entry(const Json& entry) {
  if (!entry.is_string()) return entry;
  const auto text = entry.get<std::string>();
  if (text.starts_with("like:")) return {{"like", text.substr(5)}};
  if (const auto at = text.find('@'); at != std::string::npos) {
    return {{"name", text.substr(0, at)}, {"split", {{"given", text.substr(at + 1)}}}};
  }
  return {{"name", text}};
}

std::string DatasetRequest::label() const {
  if (!like.empty()) {
    const std::string factor = scale_factor == 1.0 ? "" : fmt::format("-x{}", scale_factor);
    const std::string other = seed == 1 ? "" : fmt::format("-seed{}", seed);
    return fmt::format("{}-look-alike{}{}", like, factor, other);
  }
  if (name.empty()) return file_label(*this);
  const CatalogEntry* entry = catalog_entry_or_null(name);
  const bool own_policy = entry != nullptr && duplicates != entry->duplicates;
  return name + (given.empty() ? "" : "@" + given) + (own_policy ? "+" + duplicates : "");
}

}  // namespace mf
