#include "datasets/ratings/ids/id_names.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace mf {
namespace {

struct NameArrays {
  AlignedVector<std::int64_t> offsets;
  AlignedVector<char> bytes;
};

}  // namespace

bool is_id_name(std::string_view text) {
  if (text.empty() || text.size() > kMostNameBytes) return false;
  if (text.front() == ' ' || text.back() == ' ') return false;
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  return std::all_of(text.begin(), text.end(), plain) || is_harmless(text);
}

IdNames::IdNames(std::span<const std::string_view> ascending) {
  if (ascending.empty()) return;
  auto own = std::make_shared<NameArrays>();
  std::int64_t total = 0;
  own->offsets.reserve(ascending.size() + 1);
  own->offsets.push_back(0);
  for (const auto name : ascending) {
    own->offsets.push_back(total += static_cast<std::int64_t>(name.size()));
  }
  own->bytes.reserve(static_cast<std::size_t>(total));
  for (const auto name : ascending) own->bytes.insert(own->bytes.end(), name.begin(), name.end());
  offsets_ = own->offsets;
  bytes_ = own->bytes;
  keep_alive_ = std::move(own);
}

IdNames::IdNames(View<const std::int64_t> offsets, View<const char> bytes,
                 std::shared_ptr<const void> keep_alive)
    : offsets_(offsets), bytes_(bytes), keep_alive_(std::move(keep_alive)) {}

std::int64_t IdNames::find(std::string_view name) const {
  std::int64_t begin = 0;
  std::int64_t end = size();
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if ((*this)[middle] < name) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < size() && (*this)[begin] == name ? begin : -1;
}

IdNames IdNames::of_rows(View<const std::int32_t> rows) const {
  if (empty()) return {};
  if (rows.size() == size()) return *this;
  std::vector<std::string_view> kept;
  kept.reserve(static_cast<std::size_t>(rows.size()));
  for (const auto row : rows) kept.push_back((*this)[row]);
  return IdNames(kept);
}

std::string IdNames::wrong() const {
  if (offsets_.empty()) return bytes_.empty() ? "" : "names without offsets";
  if (offsets_[0] != 0 || offsets_.back() != bytes_.size() ||
      !std::is_sorted(offsets_.begin(), offsets_.end())) {
    return fmt::format("offsets of names that do not go from 0 up to {} bytes", bytes_.size());
  }
  for (std::int64_t row = 0; row < size(); ++row) {
    if (!is_id_name((*this)[row])) {
      return fmt::format("{} as name {}, expected {}", in_quotes((*this)[row]), row, kNameRule);
    }
    if (row > 0 && (*this)[row - 1] >= (*this)[row]) {
      return fmt::format("the name {} before {} (row {}), expected ascending names",
                         in_quotes((*this)[row - 1]), in_quotes((*this)[row]), row - 1);
    }
  }
  return "";
}

std::string id_text(const IdNames& names, View<const std::int32_t> ids, std::int64_t row) {
  return names.empty() ? fmt::format("{}", ids[row]) : fmt::format("\"{}\"", names[row]);
}

}  // namespace mf
