// Parameters are declared once, in an algorithm's info.cpp. Validation, `mfbench describe`, the
// JSON schema and the docs come from that one table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/json_fwd.hpp"
#include "base/json/names.hpp"

namespace mf {

using ParamValue = std::variant<bool, std::int64_t, double, std::string>;

struct ParamSpec {
  enum class Type { boolean, integer, number, choice, text };
  std::string name;
  Type type = Type::number;
  ParamValue fallback;               // its default
  double min = 0, max = 0;           // integer and number: inclusive range
  std::vector<std::string> choices;  // choice
  std::string unit;                  // "" for none
  std::string help;                  // one line
  // With this value the parameter is left out of a case, so the case keeps the hash that it had
  // before the parameter existed.
  std::optional<ParamValue> silent_value = std::nullopt;
  // No spec sets it and `describe` does not list it: a former parameter, whose value stays in the
  // hash of a case. Tests and benchmarks set others.
  bool fixed = false;

  static ParamSpec boolean(std::string name, bool fallback, std::string help);
  static ParamSpec integer(std::string name, std::int64_t fallback, std::int64_t min,
                           std::int64_t max, std::string help, std::string unit = "");
  static ParamSpec number(std::string name, double fallback, double min, double max,
                          std::string help, std::string unit = "");
  static ParamSpec choice(std::string name, std::string fallback, std::vector<std::string> choices,
                          std::string help);
  // Any line of at most kLongestText bytes.
  static constexpr std::size_t kLongestText = 4096;
  static ParamSpec text(std::string name, std::string help);
  // Of the type of its value.
  static ParamSpec constant(std::string name, ParamValue value);
  // The same parameter, silent at its default.
  ParamSpec silent() && {
    silent_value = fallback;
    return std::move(*this);
  }
  // One of an enum's values, by the table of its names.
  template <class E, std::size_t kCount>
  static ParamSpec choice(std::string name, E fallback, const Names<E, kCount>& names,
                          std::string help) {
    return choice(std::move(name), names.of(fallback), names.all(), std::move(help));
  }
};

// `first`, then `more`.
std::vector<ParamSpec> join_params(std::vector<ParamSpec> first, std::vector<ParamSpec> more);
// The same parameters with other defaults. Their silent values do not change.
std::vector<ParamSpec> with_defaults(std::vector<ParamSpec> params,
                                     const std::map<std::string, ParamValue>& defaults);

// Resolved parameters: every declared one has a value. Parameters at their
// silent value are read like all others, but to_json() leaves them out.
class Params {
 public:
  bool boolean(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  const std::string& choice(const std::string& name) const;
  const std::string& text(const std::string& name) const { return choice(name); }
  template <class E, std::size_t kCount>
  E choice(const std::string& name, const Names<E, kCount>& names) const {
    return names.parse(choice(name), name);
  }

  void set(const std::string& name, ParamValue value);
  void hush(const std::string& name, const ParamValue& value);  // if it has that value
  // Whether it is declared.
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  Json to_json() const;

 private:
  const ParamValue& at(const std::string& name) const;
  std::map<std::string, ParamValue> values_;
  std::set<std::string> silent_;
};

// Reads every declared parameter but the fixed ones from a JSON object (scalars: sweeps are already
// expanded). The caller calls reader.finish().
Params read_params(const std::vector<ParamSpec>& specs, JsonReader& reader);

// The value of one of them.
ParamValue read_value(const ParamSpec& spec, JsonReader& reader);

// All at their defaults, some changed, fixed ones as well: for tests and benchmarks.
Params default_params(const std::vector<ParamSpec>& specs);
Params default_params(std::vector<ParamSpec> specs, const Json& changes);

}  // namespace mf
