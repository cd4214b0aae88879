#include "algorithms/core/params.hpp"

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/problems.hpp"
#include "base/text.hpp"

#include <iterator>
#include <stdexcept>

namespace mf {

ParamSpec ParamSpec::boolean(std::string name, bool fallback, std::string help) {
  return {std::move(name), Type::boolean, fallback, 0, 0, {}, "", std::move(help)};
}

ParamSpec ParamSpec::integer(std::string name, std::int64_t fallback, std::int64_t min,
                             std::int64_t max, std::string help, std::string unit) {
  ParamSpec spec = number(std::move(name), 0, static_cast<double>(min), static_cast<double>(max),
                          std::move(help), std::move(unit));
  spec.type = Type::integer;
  spec.fallback = fallback;
  return spec;
}

ParamSpec ParamSpec::number(std::string name, double fallback, double min, double max,
                            std::string help, std::string unit) {
  return {std::move(name), Type::number, fallback, min, max, {}, std::move(unit), std::move(help)};
}

ParamSpec ParamSpec::choice(std::string name, std::string fallback,
                            std::vector<std::string> choices, std::string help) {
  return {std::move(name),    Type::choice, std::move(fallback), 0, 0,
          std::move(choices), "",           std::move(help)};
}

ParamSpec ParamSpec::text(std::string name, std::string help) {
  return {std::move(name), Type::text, std::string(), 0, 0, {}, "", std::move(help)};
}

ParamSpec ParamSpec::constant(std::string name, ParamValue value) {
  constexpr Type kTypes[] = {Type::boolean, Type::integer, Type::number, Type::text};
  constexpr double kMost = 1LL << 31;
  ParamSpec spec{
      std::move(name), kTypes[value.index()], std::move(value), -kMost, kMost, {}, "", ""};
  spec.fixed = true;
  return spec;
}

std::vector<ParamSpec> join_params(std::vector<ParamSpec> first, std::vector<ParamSpec> more) {
  first.insert(first.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  return first;
}

std::vector<ParamSpec> with_defaults(std::vector<ParamSpec> params,
                                     const std::map<std::string, ParamValue>& defaults) {
  for (ParamSpec& param : params) {
    const auto other = defaults.find(param.name);
    if (other != defaults.end()) param.fallback = other->second;
  }
  return params;
}

const ParamValue& Params::at(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) throw std::logic_error("undeclared parameter " + name);
  return it->second;
}

bool Params::boolean(const std::string& name) const { return std::get<bool>(at(name)); }
std::int64_t Params::integer(const std::string& name) const {
  return std::get<std::int64_t>(at(name));
}
double Params::number(const std::string& name) const { return std::get<double>(at(name)); }
const std::string& Params::choice(const std::string& name) const {
  return std::get<std::string>(at(name));
}

void Params::set(const std::string& name, ParamValue value) {
  values_[name] = std::move(value);
  silent_.erase(name);
}

void Params::hush(const std::string& name, const ParamValue& value) {
  if (at(name) == value) silent_.insert(name);
}

Json Params::to_json() const {
  Json json = Json::object();
  for (const auto& [name, value] : values_) {
    if (silent_.count(name) != 0) continue;
    std::visit([&, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

namespace {

std::string read_text(const ParamSpec& spec, JsonReader& reader) {
  std::string text = reader.string(spec.name, std::get<std::string>(spec.fallback));
  if (is_harmless(text) && text.size() <= ParamSpec::kLongestText) return text;
  fail(ErrorKind::usage, "{}: found {}, expected a line of at most {} bytes",
       reader.path(spec.name), in_quotes(text), ParamSpec::kLongestText);
}

}  // namespace

ParamValue read_value(const ParamSpec& spec, JsonReader& reader) {
  switch (spec.type) {
    case ParamSpec::Type::boolean:
      return reader.boolean(spec.name, std::get<bool>(spec.fallback));
    case ParamSpec::Type::integer:
      return reader.integer(spec.name, std::get<std::int64_t>(spec.fallback),
                            static_cast<std::int64_t>(spec.min),
                            static_cast<std::int64_t>(spec.max));
    case ParamSpec::Type::number:
      return reader.number(spec.name, std::get<double>(spec.fallback), spec.min, spec.max);
    case ParamSpec::Type::choice:
      return reader.choice(spec.name, std::get<std::string>(spec.fallback), spec.choices);
    case ParamSpec::Type::text:
      break;
  }
  return read_text(spec, reader);
}

Params read_params(const std::vector<ParamSpec>& specs, JsonReader& reader) {
  Params params;
  Problems problems;
  for (const auto& spec : specs) {
    problems.attempt([&] {
      params.set(spec.name, spec.fixed ? spec.fallback : read_value(spec, reader));
      if (spec.silent_value) params.hush(spec.name, *spec.silent_value);
    });
  }
  problems.raise();
  return params;
}

Params default_params(const std::vector<ParamSpec>& specs) {
  return default_params(specs, Json::object());
}

Params default_params(std::vector<ParamSpec> specs, const Json& changes) {
  for (ParamSpec& spec : specs) spec.fixed = false;
  JsonReader reader(changes, "$");
  Params params = read_params(specs, reader);
  reader.finish();
  return params;
}

}  // namespace mf
