#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mf {

// "1 case", "12 cases": of a word whose plural ends in s.
inline std::string counted(std::int64_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

}  // namespace mf
