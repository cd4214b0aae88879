#include "datasets/implicit_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "datasets/kept_ratings.hpp"

namespace mf {
namespace {

[[noreturn]] void fail_empty(const Dataset& data, float least) {
  const auto values = data.ratings.values();
  const std::string found =
      values.empty()
          ? "no rating at all"
          : fmt::format("{} as the highest", *std::max_element(values.begin(), values.end()));
  fail(ErrorKind::data, "{}: implicit.min_rating {} leaves no rating: found {}; lower it",
       data.info.name, least, found);
}

}  // namespace

Dataset observed(const Dataset& data, const ImplicitRule& rule, int threads) {
  const auto values = data.ratings.values();
  const auto least = static_cast<float>(rule.min_rating);
  const bool binary = rule.value == ImplicitValue::binary;
  const auto keep = [&](std::int64_t begin, std::int64_t end, std::uint8_t* kept) {
    for (std::int64_t k = begin; k < end; ++k) *kept++ = values[k] >= least ? 1 : 0;
  };
  auto out = kept_ratings(data, keep, binary ? std::optional(1.0F) : std::nullopt, threads);
  if (!out) fail_empty(data, least);
  out->info.implicit = ImplicitInfo{rule, dropped(data, *out)};
  if (binary) out->info.scale.reset();
  return std::move(*out);
}

}  // namespace mf
