// Ratings are found in the matrix by their ids, so that sorting it need not know of times. The peak
// is 64 bytes a rating: the columns that came in, an entry for each rating, the memory of sorting
// them.
#include "datasets/ratings/rating_times.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "datasets/ratings/ids/id_index.hpp"
#include "datasets/ratings/sort/bucket_sort.hpp"

namespace mf {
namespace {

constexpr std::int64_t kTimesChunk = std::int64_t{1} << 16;

struct Entry {
  std::int64_t time, line, rating;  // line: its place in the file
};

bool earlier(const Entry& a, const Entry& b) {
  return a.time != b.time ? a.time < b.time : a.line < b.line;
}

std::int64_t place_in(const Ratings& ratings, std::int32_t user, std::int32_t item) {
  const auto offsets = ratings.user_offsets();
  const auto row = ratings.items().part(offsets[user], offsets[user + 1]);
  return offsets[user] + (std::lower_bound(row.begin(), row.end(), item) - row.begin());
}

std::vector<Entry> entries_of(const TimedIds& raw, const Ratings& ratings, ThreadTeam& team,
                              const std::string& name) {
  const IdIndex users(raw.users, team, "user", name);
  const IdIndex items(raw.items, team, "item", name);
  std::vector<Entry> entries(raw.times.size());
  team.for_chunks(std::ssize(raw.times), kTimesChunk, [&](std::int64_t begin, std::int64_t end) {
    users.with([&](const auto& user) {
      items.with([&](const auto& item) {
        for (std::int64_t k = begin; k < end; ++k)
          entries[static_cast<std::size_t>(k)] = {
              raw.times[k], k, place_in(ratings, user(raw.users[k]), item(raw.items[k]))};
      });
    });
  });
  return entries;
}

// Pieces by a thread each, then pairs of neighbours.
void sort_by_time(std::vector<Entry>& entries, ThreadTeam& team) {
  const std::int64_t n = std::ssize(entries);
  std::int64_t piece = std::max<std::int64_t>((n + team.size() - 1) / team.size(), 1);
  const auto at = [&](std::int64_t k) { return entries.begin() + std::min(k, n); };
  team.for_chunks(n, piece, [&](std::int64_t begin, std::int64_t end) {
    std::sort(at(begin), at(end), earlier);
  });
  for (; piece < n; piece *= 2) {
    team.for_chunks(n, 2 * piece, [&](std::int64_t begin, std::int64_t end) {
      std::inplace_merge(at(begin), at(begin + piece), at(end), earlier);
    });
  }
}

}  // namespace

RatingTimes times_of(TimedIds raw, const Ratings& ratings, int threads, const std::string& name) {
  ThreadTeam team(useful_threads(threads, std::ssize(raw.times)));
  std::vector<Entry> entries = entries_of(raw, ratings, team, name);
  raw = {};
  sort_by_time(entries, team);
  AlignedVector<RatingTime> times(ratings.nnz(), {0, -1});
  std::int64_t next = ratings.nnz();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)  // the latest of a pair
    if (times[entry->rating].place < 0) times[entry->rating] = {entry->time, --next};
  return times;
}

}  // namespace mf
