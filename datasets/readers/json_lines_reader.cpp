// JSON lines: an object a line, as Amazon and Yelp publish reviews. The keys are names of columns:
// they and their values are written as a csv text, without the texts of reviews. It has the same
// lines below a header.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "datasets/readers/columns.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

constexpr const char* kObjectsOfPython =
    "if these are objects of Python, this makes JSON of them: python3 -c 'import ast, json, sys; "
    "[print(json.dumps(ast.literal_eval(line))) for line in sys.stdin]'";

// In quotes; an end of line would begin another.
void add_field(std::string& csv, const Json& value) {
  csv += csv.empty() || csv.ends_with('\n') ? "\"" : ",\"";
  for (const char c : value.is_string() ? value.get<std::string>() : value.dump())
    csv += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  csv += '"';
}

// Those that some role claims.
std::vector<std::string> claimed_keys(const Json& object, const ColumnNames& names) {
  std::vector<std::string> keys, claimed;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  const Roles roles = roles_of(keys, names);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (roles.of[k] != Role::other || std::ranges::count(roles.rivals, static_cast<int>(k)) > 0)
      claimed.push_back(keys[k]);
  }
  return claimed;
}

}  // namespace

RawRatings read_json_lines(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  std::vector<std::string> keys;
  std::string csv;
  for (std::string_view rest = text.view(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const auto refuse = [&](const std::string& found, const char* expected, const char* advice) {
      fail_in_text(text, line.data() - text.view().data(), {line.data(), found, expected, advice});
    };
    if (line.find_first_not_of(" \t\r") != line.npos) {
      const Json object = Json::parse(line, nullptr, false);
      if (!object.is_object())
        refuse(in_quotes(line), "an object of JSON on one line", kObjectsOfPython);
      if (csv.empty()) {
        keys = claimed_keys(object, options.columns);
        for (const auto& key : keys) add_field(csv, key);
        csv += '\n';
      }
      for (const auto& key : keys) {
        const Json value = object.value(key, Json());
        if (value.is_null() || value.is_structured())
          refuse("no value of " + in_quotes(key), "one in each line", "");
        add_field(csv, value);
      }
    }
    csv += '\n';
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  Text same = text;
  same.bytes = own_bytes(AlignedVector<char>(csv.begin(), csv.end()));
  --same.lines_before;  // the header
  return read_csv(same, scale, options);
}

}  // namespace mf
