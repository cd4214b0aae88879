// Settings of a micro-benchmark from the environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace mf {

inline std::string env(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

// "1,2,16"
inline std::vector<int> int_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) numbers.push_back(std::stoi(item));
  return numbers;
}

// $MFBENCH_BENCH_RATINGS ("100000000"), else the benchmark's default.
inline std::int64_t bench_ratings(std::int64_t by_default) {
  const char* own = std::getenv("MFBENCH_BENCH_RATINGS");
  return own == nullptr || *own == '\0' ? by_default : std::stoll(own);
}

}  // namespace mf
