#include <algorithm>
#include <cstring>

#include "testing/fuzz/mutate.hpp"

namespace mf::fuzz {

std::vector<std::string_view> parts_of(std::string_view input, std::size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count && input.size() >= sizeof(std::uint32_t)) {
    std::uint32_t length = 0;
    std::memcpy(&length, input.data(), sizeof length);
    input.remove_prefix(sizeof length);
    parts.push_back(input.substr(0, length));
    input.remove_prefix(std::min<std::size_t>(length, input.size()));
  }
  if (parts.size() + 1 == count) parts.push_back(input);
  parts.resize(count);
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) {
    const auto length = static_cast<std::uint32_t>(part.size());
    char bytes[sizeof length];
    std::memcpy(bytes, &length, sizeof length);
    if (&part != &parts.back()) all.append(bytes, sizeof bytes);
    all += part;
  }
  return all;
}

}  // namespace mf::fuzz
