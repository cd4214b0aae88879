#include "datasets/split/given_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/host/pages.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "datasets/readers/id_columns.hpp"

namespace mf {
namespace {

// One side of the ratings: users or items.
struct Side {
  const char* name;
  AlignedVector<std::int32_t> RawRatings::*ids;
  IdNames RawRatings::*names;
};
constexpr Side kUsers{"user", &RawRatings::users, &RawRatings::user_names};
constexpr Side kItems{"item", &RawRatings::items, &RawRatings::item_names};

// Where one part has names, the integers of another are names, too.
void give_names(std::vector<GivenPart>& parts, const Side& side) {
  const auto named = [&](const GivenPart& part) { return !(part.raw.*side.names).empty(); };
  const auto names = std::ranges::find_if(parts, named);
  if (names == parts.end()) return;
  for (auto& part : parts) {
    if (named(part)) continue;
    note_once("{}: {}s are text, as in {}", part.name, side.name, names->name);
    NameCounter counter;
    for (auto& id : part.raw.*side.ids) id = counter.number(fmt::format("{}", id));
    MergedNames merged = merge_names({&counter});
    for (auto& id : part.raw.*side.ids) id = merged.row_of[0][static_cast<std::size_t>(id)];
    part.raw.*side.names = std::move(merged.names);
  }
}

// The names of all parts, ascending, each once.
IdNames all_names(const std::vector<GivenPart>& parts, const Side& side) {
  std::vector<std::string_view> all;
  for (const auto& part : parts) {
    const IdNames& own = part.raw.*side.names;
    const auto middle = std::ssize(all);
    for (std::int64_t row = 0; row < own.size(); ++row) all.push_back(own[row]);
    std::inplace_merge(all.begin(), all.begin() + middle, all.end());
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return IdNames(all);
}

// Moves a column of all parts into one; the number of part p becomes number(p, it).
template <class T, class Number>
AlignedVector<T> join_columns(std::vector<GivenPart>& parts, AlignedVector<T> RawRatings::*column,
                              const Number& number, ThreadTeam& team) {
  std::int64_t count = 0;
  for (const auto& part : parts) count += std::ssize(part.raw.*column);
  AlignedVector<T> all(count);
  T* to = all.data();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    AlignedVector<T> own = std::move(parts[p].raw.*column);
    team.for_chunks(std::ssize(own), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = number(p, own[i]);
    });
    to += own.size();
    give_back_pages(own.data(), own.size() * sizeof(T), team);
  }
  return all;
}

void join_ids(std::vector<GivenPart>& parts, const Side& side, RawRatings& all, ThreadTeam& team) {
  give_names(parts, side);
  const IdNames names = all_names(parts, side);
  std::vector<std::vector<std::int32_t>> row_of(parts.size());  // of the names of each part
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const IdNames& own = parts[p].raw.*side.names;
    for (std::int64_t row = 0, at = 0; row < own.size(); ++row) {
      while (names[at] != own[row]) ++at;
      row_of[p].push_back(static_cast<std::int32_t>(at));
    }
  }
  all.*side.ids = join_columns(
      parts, side.ids,
      [&](std::size_t p, std::int32_t id) {
        return names.empty() ? id : row_of[p][static_cast<std::size_t>(id)];
      },
      team);
  all.*side.names = names;
}

// Puts these lines of the first file into the last.
void label_lines(RatingFiles& files, const LineRange& lines) {
  if (lines.last > std::ssize(files.of)) {
    fail_in_file(files.names.front(), fmt::format("{} ratings", files.of.size()),
                 fmt::format("at least {}, the last of the test part", lines.last));
  }
  std::fill(files.of.begin() + lines.first - 1, files.of.begin() + lines.last,
            static_cast<std::uint8_t>(files.names.size() - 1));
}

}  // namespace

JoinedParts join_parts(std::vector<GivenPart> parts, DuplicatePolicy policy, int threads,
                       const std::string& name, DuplicateReport* report,
                       const std::optional<LineRange>& test_lines) {
  ThreadTeam team(threads);
  if (test_lines) {  // a part without ratings of its own
    GivenPart test{kTest, parts.front().name, {}};
    test.raw.user_names = parts.front().raw.user_names;
    test.raw.item_names = parts.front().raw.item_names;
    parts.push_back(std::move(test));
  }
  RatingFiles files;
  for (const auto& part : parts) {
    files.of.resize(std::ssize(files.of) + std::ssize(part.raw.values),
                    static_cast<std::uint8_t>(files.names.size()));
    files.names.push_back(part.name);
  }
  if (test_lines) label_lines(files, *test_lines);
  RawRatings all;
  join_ids(parts, kUsers, all, team);
  join_ids(parts, kItems, all, team);
  all.values = join_columns(
      parts, &RawRatings::values, [](std::size_t, float value) { return value; }, team);
  JoinedParts joined;
  joined.ratings = make_ratings(std::move(all), files, policy, threads, name, report);
  joined.labels = std::move(files.of);
  team.for_chunks(std::ssize(joined.labels), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) joined.labels[i] = parts[joined.labels[i]].label;
  });
  return joined;
}

}  // namespace mf
