// Reads JSON more strictly than the library: a key may stand once in an object, values may be
// nested so deep and no deeper, and nothing follows a NUL. Every error has its line and column.
#include <fmt/core.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"

namespace mf {
namespace {

// Reading, printing and freeing a value recurse into it.
constexpr std::size_t kMaxDepth = 200;

// For the `byte`-th character, counted from 1.
std::pair<std::size_t, std::size_t> line_and_column(std::string_view text, std::size_t byte) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return {line, column};
}

// nlohmann prefixes its messages with an exception id and a position.
std::string reason_of(const std::string& text) {
  for (const char* start : {"syntax error", "invalid", "unexpected", "number overflow"}) {
    if (const auto at = text.find(start); at != std::string::npos) return text.substr(at);
  }
  return text;
}

// Receives the values of a text in their order and puts them together.
class Builder : public nlohmann::json_sax<Json> {
 public:
  // `in` has the text.
  Builder(std::string_view text, const std::string& name, std::istream& in)
      : text_(text), name_(name), in_(in) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (!open_.back().keys.insert(key).second) {
      fail_at(position(), fmt::format("the key \"{}\" stands in its object twice", key));
    }
    key_ = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail_at(position, reason_of(error.what()));
  }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> keys;  // of an object
  };

  // How far the lexer has read.
  std::size_t position() const {
    return static_cast<std::size_t>(in_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
  }

  [[noreturn]] void fail_at(std::size_t byte, const std::string& reason) const {
    const auto [line, column] = line_and_column(text_, byte);
    fail(ErrorKind::usage, "{}:{}:{}: not valid JSON: {}", name_, line, column, reason);
  }

  Json* place(Json&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Not by operator[], which looks for the key among all others.
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(key_), std::move(value));
    return &members.back().second;
  }

  bool add(Json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(Json&& value) {
    if (open_.size() == kMaxDepth) {
      fail_at(position(), fmt::format("values are nested more than {} deep", kMaxDepth));
    }
    open_.push_back({place(std::move(value)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::istream& in_;
  Json root_;
  std::vector<Open> open_;  // from the outermost value in
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  // The library takes a NUL for the end.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto [line, column] = line_and_column(text, nul + 1);
    fail(ErrorKind::usage, "{}:{}:{}: not valid JSON: found a NUL byte", name, line, column);
  }
  std::istringstream in{std::string(text)};
  Builder builder(text, name, in);
  Json::sax_parse(in, &builder, nlohmann::detail::input_format_t::json, true, true);
  return builder.take();
}

}  // namespace mf
