#include "base/json/json.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/problems.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

// 20 and 2e1 are both integers to a person; 2.5 is not.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (std::floor(number) != number || std::abs(number) > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

Json read_json_file(const std::string& path, Origin origin) {
  try {
    return parse_json(read_text(path, origin), path);
  } catch (const Error& error) {
    // A wrong path from the user is not damage.
    const bool named = origin != Origin::found && error.kind() == ErrorKind::data;
    throw Error(named ? ErrorKind::usage : error.kind(), error.what());
  }
}

std::string json_text(const Json& value, int indent) {
  return printable_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string canonical(const Json& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string describe(const Json& value) {
  std::string text = json_text(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "the boolean " + text;
    case Json::value_t::string:
      return "the string " + text;
    case Json::value_t::array:
      return "the list " + text;
    case Json::value_t::object:
      return "the object " + text;
    default:
      return "the number " + text;
  }
}

JsonReader::JsonReader(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) {
    fail(ErrorKind::usage, "{}: found {}, expected an object", where_, describe(object_));
  }
}

const Json* JsonReader::find(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  const auto it = object_.find(key);
  return it == object_.end() ? nullptr : &*it;
}

const Json& JsonReader::require(const std::string& key) {
  const Json* value = find(key);
  if (value != nullptr) return *value;
  check_misspelt({key});
  fail(ErrorKind::usage, "{}: the key \"{}\" is missing", where_, key);
}

void JsonReader::check_misspelt(const std::vector<std::string>& wanted) const {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string near = nearest(key, wanted);
    if (near.empty()) continue;
    fail(ErrorKind::usage, "{}: unknown key, did you mean \"{}\"?", path(key), near);
  }
}

bool JsonReader::boolean(const std::string& key, bool fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    fail(ErrorKind::usage, "{}: found {}, expected true or false", path(key), describe(*value));
  }
  return value->get<bool>();
}

std::int64_t JsonReader::integer(const std::string& key, std::int64_t fallback, std::int64_t min,
                                 std::int64_t max) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const std::optional<std::int64_t> whole = whole_number(*value);
  if (!whole || *whole < min || *whole > max) {
    fail(ErrorKind::usage, "{}: found {}, expected an integer from {} to {}", path(key),
         describe(*value), min, max);
  }
  return *whole;
}

double JsonReader::number(const std::string& key, double fallback, double min, double max) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const bool in_range =
      value->is_number() && value->get<double>() >= min && value->get<double>() <= max;  // no NaN
  if (!in_range) {
    fail(ErrorKind::usage, "{}: found {}, expected a number from {} to {}", path(key),
         describe(*value), min, max);
  }
  return value->get<double>();
}

std::string JsonReader::string(const std::string& key, const std::string& fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    fail(ErrorKind::usage, "{}: found {}, expected a string", path(key), describe(*value));
  }
  return value->get<std::string>();
}

std::string JsonReader::name(const std::string& key) {
  std::string value = string(key, "");
  if (value.empty()) fail(ErrorKind::usage, "{}: expected a name, found \"\"", path(key));
  if (value.find('\0') != value.npos) {  // names of files end there
    fail(ErrorKind::usage, "{}: found a zero byte in a name", path(key));
  }
  return value;
}

std::string JsonReader::choice(const std::string& key, const std::string& fallback,
                               const std::vector<std::string>& choices) {
  const std::string word = string(key, fallback);
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return word;
  const std::string near = nearest(word, choices);
  fail(ErrorKind::usage, "{}: found \"{}\", expected one of {}{}", path(key), word, join(choices),
       near.empty() ? "" : "; did you mean \"" + near + "\"?");
}

std::string JsonReader::path(const std::string& key) const {
  const auto it = elsewhere_.find(key);
  return it == elsewhere_.end() ? where_ + "." + key : it->second;
}

std::vector<std::pair<std::string, std::string>> JsonReader::unknown_keys() const {
  if (open_) return {};
  std::vector<std::pair<std::string, std::string>> unknown;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string near = nearest(key, asked_);
    unknown.emplace_back(
        path(key),
        fmt::format("{}: unknown key{}; keys allowed here: {}", path(key),
                    near.empty() ? "" : ", did you mean \"" + near + "\"?", join(asked_)));
  }
  return unknown;
}

void JsonReader::finish() const {
  Problems problems;
  for (const auto& [path, message] : unknown_keys()) problems.add(ErrorKind::usage, message);
  problems.raise();
}

}  // namespace mf
