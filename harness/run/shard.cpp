#include "harness/run/shard.hpp"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace mf {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool Shard::has(std::size_t index) const {
  return static_cast<std::int64_t>(index) % of == part - 1;
}

std::string Shard::to_text() const { return fmt::format("{}/{}", part, of); }

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string_view all = text;
  const auto part = whole(all.substr(0, slash));
  const auto of = slash == std::string::npos ? std::nullopt : whole(all.substr(slash + 1));
  if (!part || !of || *of < 1 || *part < 1 || *part > *of) {
    fail(ErrorKind::usage,
         "--shard: found \"{}\", expected I/N with I from 1 to N: 1/8, 2/8, ... 8/8 are the parts "
         "of eight machines",
         text);
  }
  return {*part, *of};
}

}  // namespace mf
