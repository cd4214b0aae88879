// The names of an enum's values, declared once beside it: for specs, results and messages.
//
//   constexpr Names kBufferingNames{std::to_array<Named<Buffering>>(
//       {{"swap", Buffering::swap}, {"in_place", Buffering::in_place}})};
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {

template <class E>
struct Named {
  std::string_view name;
  E value;
};

template <class E, std::size_t kCount>
struct Names {
  std::array<Named<E>, kCount> table;

  constexpr explicit Names(const std::array<Named<E>, kCount>& named) : table(named) {}

  std::optional<E> find(std::string_view name) const {
    for (const auto& one : table) {
      if (one.name == name) return one.value;
    }
    return std::nullopt;
  }

  // Throws Error(usage) that lists the known names; `what` is the kind of thing it names.
  E parse(std::string_view name, std::string_view what) const {
    if (const auto value = find(name)) return *value;
    const auto known = all();
    const std::string near = nearest(name, known);
    fail(ErrorKind::usage, "found {} \"{}\"{}; known: {}", what, name,
         near.empty() ? "" : ", did you mean \"" + near + "\"?", join(known));
  }

  std::string of(E value) const {
    for (const auto& one : table) {
      if (one.value == value) return std::string(one.name);
    }
    throw std::logic_error("a value of an enum without a name");
  }

  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& one : table) names.emplace_back(one.name);
    return names;
  }
};

}  // namespace mf
