// Values that may be absent: std::optional in C++, null in JSON. Reading one never throws and never
// assumes that a key is there: files that others wrote may be damaged.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/json/json.hpp"

namespace mf {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// Null for numbers that are not finite: JSON has no NaN.
inline Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }
inline Json number_or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json();
}

using JsonKeys = std::initializer_list<const char*>;

// The value under nested `keys`; null if one of them is missing.
inline const Json& value_at(const Json& json, JsonKeys keys) {
  static const Json kNull;
  const Json* at = &json;
  for (const char* key : keys) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (found == at->end()) return kNull;
    at = &*found;
  }
  return *at;
}

// Empty if the key is missing or the value is of another type.
inline std::optional<double> number_at(const Json& json, JsonKeys keys) {
  const Json& value = value_at(json, keys);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
inline std::optional<std::int64_t> integer_at(const Json& json, JsonKeys keys) {
  const Json& value = value_at(json, keys);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}
inline std::optional<std::string> text_at(const Json& json, JsonKeys keys) {
  const Json& value = value_at(json, keys);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace mf
