#include "datasets/readers/id_columns.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "datasets/readers/fields.hpp"

namespace mf {
void refuse_names(IdKind kind, const std::string& path, const char* format) {
  if (kind != IdKind::text) return;
  fail(ErrorKind::usage,
       "{}: ids: found \"text\", but ids of the format {} are integers; expected \"auto\" or "
       "\"integers\"",
       path, format);
}

std::int32_t NameCounter::number(std::string_view name) {
  if (2 * names_.size() >= slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>()(name) & mask;; at = (at + 1) & mask) {
    const std::int32_t found = slots_[at];
    if (found >= 0 && names_[static_cast<std::size_t>(found)] == name) return found;
    if (found >= 0) continue;
    if (name.empty() || name.size() > kMostNameBytes || *mark_advice(name) != '\0') return -1;
    const std::string_view own = copy(name);
    if (!is_id_name(own)) return -1;
    slots_[at] = static_cast<std::int32_t>(names_.size());
    names_.push_back(own);
    return slots_[at];
  }
}

std::string_view NameCounter::copy(std::string_view name) {
  constexpr std::size_t kBlock = 1 << 14;
  if (left_ < name.size()) {
    copies_.push_back(std::make_unique<char[]>(kBlock));
    left_ = kBlock;
  }
  char* const to = copies_.back().get() + (kBlock - left_);
  name.copy(to, name.size());
  left_ -= name.size();
  return {to, name.size()};
}

void NameCounter::grow() {
  if (names_.size() >= std::numeric_limits<std::int32_t>::max() / 2) {
    fail(ErrorKind::data, "found more than {} names of users or items", names_.size());
  }
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t k = 0; k < names_.size(); ++k) {
    std::size_t at = std::hash<std::string_view>()(names_[k]) & mask;
    while (slots_[at] >= 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::int32_t>(k);
  }
}

namespace {

[[noreturn]] void fail_name(const char* begin, const char* end, const char* what) {
  throw LineError{begin, begin == end ? "nothing" : in_quotes({begin, end}),
                  std::string(*what == 'i' ? "an " : "a ") + what + " id (" + kNameRule + ")",
                  mark_advice({begin, end})};
}

}  // namespace

std::int32_t number_name(NameCounter& names, const char* begin, const char* end, const char* what) {
  const std::int32_t number = names.number({begin, end});
  if (number < 0) [[unlikely]]
    fail_name(begin, end, what);
  return number;
}

std::int32_t number_quoted_name(NameCounter& names, const char* begin, const char* end,
                                const char* what) {
  const std::int32_t number = names.number(without_quotes({begin, end}));
  if (number < 0) [[unlikely]]
    fail_name(begin, end, what);
  return number;
}

std::string without_quotes(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) {
    return std::string(field);
  }
  std::string text(field.substr(1, field.size() - 2));
  for (std::size_t at = 0; (at = text.find("\"\"", at)) != text.npos; ++at) text.erase(at, 1);
  return text;
}

MergedNames merge_names(const std::vector<const NameCounter*>& counters) {
  NameCounter all;
  MergedNames merged;
  for (const NameCounter* counter : counters) {
    auto& rows = merged.row_of.emplace_back();
    rows.reserve(counter->names().size());
    for (const auto name : counter->names()) rows.push_back(all.number(name));
  }
  std::vector<std::int32_t> order(all.names().size());
  std::iota(order.begin(), order.end(), 0);
  const auto name = [&](std::int32_t k) { return all.names()[static_cast<std::size_t>(k)]; };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return name(a) < name(b); });
  std::vector<std::int32_t> row_of(order.size());
  std::vector<std::string_view> ascending(order.size());
  for (std::size_t row = 0; row < order.size(); ++row) {
    ascending[row] = name(order[row]);
    row_of[static_cast<std::size_t>(order[row])] = static_cast<std::int32_t>(row);
  }
  for (auto& rows : merged.row_of) {
    for (auto& row : rows) row = row_of[static_cast<std::size_t>(row)];
  }
  merged.names = IdNames(ascending);
  return merged;
}

namespace {

IdNames number_column(AlignedVector<std::int32_t>& column, NameCounter ChunkNames::*side,
                      const std::vector<ChunkNames>& chunks, const std::vector<std::int64_t>& first,
                      const std::vector<std::int64_t>& written, ThreadTeam& team) {
  std::vector<const NameCounter*> counters;
  for (const auto& chunk : chunks) counters.push_back(&(chunk.*side));
  MergedNames merged = merge_names(counters);
  team.for_chunks(std::ssize(chunks), 1, [&](std::int64_t chunk, std::int64_t) {
    const auto c = static_cast<std::size_t>(chunk);
    const auto& row_of = merged.row_of[c];
    for (std::int64_t k = first[c]; k < first[c] + written[c]; ++k) {
      column[k] = row_of[static_cast<std::size_t>(column[k])];
    }
  });
  return std::move(merged.names);
}

}  // namespace

void number_rows(RawRatings& raw, const NamedColumns& columns,
                 const std::vector<ChunkNames>& chunks, const std::vector<std::int64_t>& first,
                 const std::vector<std::int64_t>& written, ThreadTeam& team) {
  if (columns.users) {
    raw.user_names = number_column(raw.users, &ChunkNames::users, chunks, first, written, team);
  }
  if (columns.items) {
    raw.item_names = number_column(raw.items, &ChunkNames::items, chunks, first, written, team);
  }
}

}  // namespace mf
