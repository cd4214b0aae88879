#include "algorithms/core/declared_param.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

constexpr Names kDeclaredTypes{
    std::to_array<Named<ParamSpec::Type>>({{"boolean", ParamSpec::Type::boolean},
                                           {"integer", ParamSpec::Type::integer},
                                           {"number", ParamSpec::Type::number},
                                           {"choice", ParamSpec::Type::choice},
                                           {"text", ParamSpec::Type::text}})};

void read_declared_range(JsonReader& reader, ParamSpec& spec) {
  constexpr double kMost = 1e15;
  for (const char* key : {"min", "max"}) reader.require(key);
  spec.min = reader.number("min", 0, -kMost, kMost);
  spec.max = reader.number("max", 0, spec.min, kMost);
  if (spec.type == ParamSpec::Type::number) {
    spec.fallback = reader.number("default", 0, spec.min, spec.max);
  } else {
    spec.fallback = reader.integer("default", 0, static_cast<std::int64_t>(spec.min),
                                   static_cast<std::int64_t>(spec.max));
  }
}

// A list of strings, not empty.
std::vector<std::string> read_words(const Json& list, const std::string& where) {
  const auto is_word = [](const Json& one) { return one.is_string(); };
  if (!list.is_array() || list.empty() || !std::all_of(list.begin(), list.end(), is_word)) {
    fail(ErrorKind::usage, "{}: found {}, expected a list of strings", where, describe(list));
  }
  return list.get<std::vector<std::string>>();
}

}  // namespace

ParamSpec read_declared_param(const std::string& name, JsonReader& reader) {
  ParamSpec spec;
  spec.name = name;
  for (const char* key : {"type", "default"}) reader.require(key);
  spec.type = *kDeclaredTypes.find(reader.choice("type", "", kDeclaredTypes.all()));
  if (spec.type == ParamSpec::Type::boolean) {
    spec.fallback = reader.boolean("default", false);
  } else if (spec.type == ParamSpec::Type::text) {
    spec.fallback = reader.string("default", "");
  } else if (spec.type == ParamSpec::Type::choice) {
    spec.choices = read_words(reader.require("choices"), reader.path("choices"));
    spec.fallback = reader.choice("default", "", spec.choices);
  } else {
    read_declared_range(reader, spec);
  }
  spec.unit = reader.string("unit", "");
  spec.help = reader.name("help");
  if (reader.boolean("silent", false)) spec.silent_value = spec.fallback;
  return spec;
}

void expect_param(const std::vector<ParamSpec>& params, const std::string& name,
                  ParamSpec::Type type, const std::string& where) {
  const auto is_it = [&](const auto& spec) { return spec.name == name && spec.type == type; };
  if (std::any_of(params.begin(), params.end(), is_it)) return;
  fail(ErrorKind::usage, "{}: expected {} among the parameters, of the type {}", where,
       in_quotes(name), kDeclaredTypes.of(type));
}

}  // namespace mf
