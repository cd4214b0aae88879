// JSON values keep the order of their keys: specs and results are read by people.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/open_file.hpp"
#include "base/json/json_fwd.hpp"

namespace mf {

// Parses a file; errors name the file, line and column. Comments are accepted; a key that stands in
// an object twice, values nested more than 200 deep, NUL bytes and numbers that no double holds are
// errors.
Json read_json_file(const std::string& path, Origin origin = Origin::named);
Json parse_json(std::string_view text, const std::string& name);

// For a terminal or a pipe: control characters are escaped, invalid UTF-8 is replaced.
std::string json_text(const Json& value, int indent = -1);

// Keys sorted, no white space: the same value gives the same text (the base of hashes).
std::string canonical(const Json& value);

// Reads an object; asking for a key allows it. `finish()` reports every key that was not asked for,
// with its JSON path and the nearest key that was.
class JsonReader {
 public:
  // `where` is the JSON path of `object`, such as $.algorithms[1]. Throws if it is not an object.
  JsonReader(const Json& object, std::string where);

  const Json* find(const std::string& key);                                   // null if absent
  bool holds(const std::string& key) const { return object_.contains(key); }  // allows nothing
  const Json& require(const std::string& key);                                // throws where absent
  // Throws for a key that was not asked for and that was probably meant to be one of `wanted`,
  // which the object lacks: the reason is better than the lack.
  void check_misspelt(const std::vector<std::string>& wanted) const;
  // The value of this key was taken over from elsewhere: messages name that place.
  void inherited(const std::string& key, const std::string& path) { elsewhere_[key] = path; }

  bool boolean(const std::string& key, bool fallback);
  std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t min,
                       std::int64_t max);
  double number(const std::string& key, double fallback, double min, double max);
  std::string string(const std::string& key, const std::string& fallback);
  std::string name(const std::string& key);  // a string that is not empty
  std::string choice(const std::string& key, const std::string& fallback,
                     const std::vector<std::string>& choices);

  // Takes every key as known: the one that decides which are allowed is wrong.
  void leave_open() { open_ = true; }
  // Path and message of every key that was not asked for.
  std::vector<std::pair<std::string, std::string>> unknown_keys() const;

  std::string path(const std::string& key) const;  // $.algorithms[1].key
  const std::string& where() const { return where_; }
  void finish() const;

 private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> asked_;
  std::map<std::string, std::string> elsewhere_;
  bool open_ = false;
};

// "a string", "a number", ... for messages, with a short excerpt of the value.
std::string describe(const Json& value);

}  // namespace mf
