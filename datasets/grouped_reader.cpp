// Ratings grouped under header lines: netflix ("movie:", then "customer,rating,date") and kddcup
// ("user|count", then count lines "item<tab>score<tab>date<tab>time").
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "datasets/fields.hpp"
#include "datasets/reader_formats.hpp"

namespace mf {
namespace {

// Dates and times are skipped: one or more digits and marks such as "2005-09-06" and "19:09:00".
void skip_date(const char*& p, std::string_view marks, const char* expected) {
  const char* begin = p;
  while (is_digit(*p) || marks.find(*p) != std::string_view::npos) ++p;
  if (p == begin) [[unlikely]] fail_field(begin, expected);
}

// The separator behind the field that began at `field`.
void expect(const char*& p, char separator, const char* field, const std::string& line) {
  if (*p != separator) [[unlikely]] {
    const char* name = separator == '\t' ? "a tab" : "a comma";
    if (at_line_end(p)) fail_field(p, fmt::format("{} and another column ({})", name, line));
    fail_field(field, fmt::format("a number and {} ({})", name, line));
  }
  ++p;
}

void refuse_blank_line(const char* p, const char* expected) {
  if (at_line_end(p)) [[unlikely]] throw LineError{p, "a blank line", expected, ""};
}

// Movie groups. `Entry` reads what follows the customer.
template <class Entry>
class MovieGroups : public LineFormat {
 public:
  static constexpr char kHeaderMark = ':';
  struct State {
    std::int32_t movie = -1;  // none yet
  };
  explicit MovieGroups(const Entry& entry) : entry_(entry) {}

  // A header that is no number ends the parse where it stands, so what follows does not matter.
  State next(State state, const ChunkScan& scan) const {
    if (scan.header == nullptr) return state;
    const char* p = scan.header;
    std::uint64_t movie = 0;
    if (!read_integer(p, std::numeric_limits<std::int32_t>::max(), movie)) return {0};
    return {static_cast<std::int32_t>(movie)};
  }

  void line(const char*& p, State& state, RatingSink& out) const {
    refuse_blank_line(p, "a line movie: or customer,rating,date");
    const char* begin = p;
    const std::int32_t id = read_id(p, "customer or movie");
    if (*p == ':') {
      ++p;
      read_line_end(p, "movie:");
      state.movie = id;
      return;
    }
    if (state.movie < 0) [[unlikely]] fail_field(begin, "a line movie: before the first customer");
    entry_(p, begin, id, state.movie, out);
  }

 private:
  const Entry& entry_;
};

class NetflixRating {
 public:
  explicit NetflixRating(const ScaleCheck& scale) : scale_(scale) {}
  void operator()(const char*& p, const char* begin, std::int32_t user, std::int32_t movie,
                  RatingSink& out) const {
    expect(p, ',', begin, kLine);
    begin = p;
    const float value = read_rating(p, scale_);
    expect(p, ',', begin, kLine);
    skip_date(p, "-", "a date such as 2005-09-06");
    read_line_end(p, kLine);
    out.add(user, movie, value);
  }

 private:
  static inline const std::string kLine = "customer,rating,date";
  const ScaleCheck& scale_;
};

// An entry of probe.txt: marks the rating it names.
class ProbeEntry {
 public:
  ProbeEntry(const Ratings& ratings, AlignedVector<std::uint8_t>& parts)
      : ratings_(ratings), parts_(parts) {}

  void operator()(const char*& p, const char* begin, std::int32_t user, std::int32_t movie,
                  RatingSink& out) const {
    read_line_end(p, "customer");
    const std::int64_t at = find(user, movie);
    if (at < 0) {
      fail_field(begin, fmt::format("a customer who rated movie {} in the ratings", movie));
    }
    // Two threads may mark the same rating if the file lists it twice.
    std::atomic_ref<std::uint8_t>(parts_[static_cast<std::size_t>(at)])
        .store(kTest, std::memory_order_relaxed);
    out.add(user, movie, 0);
  }

 private:
  static std::int64_t position(std::span<const std::int32_t> sorted, std::int32_t value) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
    return at != sorted.end() && *at == value ? at - sorted.begin() : -1;
  }

  std::int64_t find(std::int32_t user_id, std::int32_t item_id) const {
    const std::int64_t user = position(ratings_.user_ids(), user_id);
    const std::int64_t item = position(ratings_.item_ids(), item_id);
    if (user < 0 || item < 0) return -1;
    const auto offsets = ratings_.user_offsets().subspan(static_cast<std::size_t>(user), 2);
    const auto row = ratings_.items().subspan(static_cast<std::size_t>(offsets[0]),
                                              static_cast<std::size_t>(offsets[1] - offsets[0]));
    const std::int64_t in_row = position(row, static_cast<std::int32_t>(item));
    return in_row < 0 ? -1 : offsets[0] + in_row;
  }

  const Ratings& ratings_;
  AlignedVector<std::uint8_t>& parts_;
};

class KddCup : public LineFormat {
 public:
  static constexpr char kHeaderMark = '|';
  struct State {
    std::int32_t user = -1;  // none yet
    std::int64_t left = 0;   // ratings of this user still to come
    std::int64_t count = 0;  // declared
  };
  KddCup(const ScaleCheck& scale, std::string_view first_rating)
      : scale_(scale), has_date_(std::count(first_rating.begin(), first_rating.end(), '\t') >= 2),
        line_(has_date_ ? "item<tab>score<tab>date<tab>time" : "item<tab>score") {}

  State next(State state, const ChunkScan& scan) const {
    if (scan.header != nullptr) {
      const char* p = scan.header;
      std::uint64_t user = 0;
      std::uint64_t count = 0;
      constexpr auto max = std::numeric_limits<std::int32_t>::max();
      // A header that is malformed ends the parse where it stands: what follows does not matter.
      if (!read_integer(p, max, user) || *p++ != '|' || !read_integer(p, max, count)) return {};
      state = {static_cast<std::int32_t>(user), static_cast<std::int64_t>(count),
               static_cast<std::int64_t>(count)};
      state.left -= scan.lines_after_header;
    } else {
      state.left -= scan.lines;
    }
    return state;
  }

  void line(const char*& p, State& state, RatingSink& out) const {
    refuse_blank_line(p, "a line user|count or item<tab>score");
    const char* begin = p;
    if (state.left > 0) {
      const std::int32_t item = read_id(p, "item");
      if (*p == '|') fail_too_few(begin, in_quotes("a line user|count"), state);
      rating(p, begin, state, item, out);
      return;
    }
    const std::int32_t user = read_id(p, "user");
    if (*p != '|') fail_no_header(begin, state);
    ++p;
    const char* count_begin = p;
    std::uint64_t count = 0;
    if (!read_integer(p, std::numeric_limits<std::int32_t>::max(), count)) {
      fail_field(count_begin, "the number of ratings of the user (an integer)");
    }
    read_line_end(p, "user|count");
    state = {user, static_cast<std::int64_t>(count), static_cast<std::int64_t>(count)};
  }

  void finish(const State& state, const char* end) const {
    if (state.left > 0) fail_too_few(end - 1, "the end of the file", state);
  }

 private:
  void rating(const char*& p, const char* field, State& state, std::int32_t item,
              RatingSink& out) const {
    const auto next = [&] {
      expect(p, '\t', field, line_);
      field = p;
    };
    next();
    const float value = read_rating(p, scale_);
    if (has_date_) {
      next();
      skip_date(p, "-", "a date (a number of days)");
      next();
      skip_date(p, ":.", "a time such as 19:09:00");
    } else if (*p != '\t' && !at_line_end(p)) {
      fail_field(field, scale_.describe());
    }
    read_line_end(p, line_);
    out.add(state.user, item, value);
    --state.left;
  }

  [[noreturn]] static void fail_too_few(const char* at, const std::string& found,
                                        const State& state) {
    throw LineError{at, found + fmt::format(" after {} ratings of user {}",
                                            state.count - state.left, state.user),
                    fmt::format("{}, as its line user|count says", state.count), ""};
  }

  [[noreturn]] static void fail_no_header(const char* at, const State& state) {
    if (state.user < 0) fail_field(at, "a line user|count before the first rating");
    throw LineError{at, fmt::format("more than {} ratings of user {}", state.count, state.user),
                    "a line user|count", ""};
  }

  const ScaleCheck& scale_;
  bool has_date_;
  std::string line_;
};

// Few large files are parsed by all threads one after another; many small ones at once.
std::vector<RawRatings> read_files(const std::vector<std::string>& files, const ScaleCheck& scale,
                                   const ParseOptions& options) {
  std::vector<RawRatings> parts(files.size());
  if (files.size() < 4 * static_cast<std::size_t>(std::max(options.threads, 1))) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      parts[f] = read_netflix(open_text(files[f]), scale, options);
    }
    return parts;
  }
  std::vector<std::exception_ptr> errors(files.size());
  ThreadTeam team(options.threads);
  const ParseOptions alone{1, options.chunk_bytes};
  team.for_chunks(static_cast<std::int64_t>(files.size()), 1, [&](std::int64_t i, std::int64_t) {
    const auto f = static_cast<std::size_t>(i);
    try {
      parts[f] = read_netflix(open_text(files[f]), scale, alone);
    } catch (...) {
      errors[f] = std::current_exception();
    }
  });
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return parts;
}

RawRatings concatenate(std::vector<RawRatings> parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.values.size();
  RawRatings all;
  all.users.reserve(count);
  all.items.reserve(count);
  all.values.reserve(count);
  for (auto& part : parts) {
    all.users.insert(all.users.end(), part.users.begin(), part.users.end());
    all.items.insert(all.items.end(), part.items.begin(), part.items.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return all;
}

}  // namespace

RawRatings read_netflix(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  const NetflixRating entry(scale);
  return parse_lines(text, 0, MovieGroups(entry), options);
}

RawRatings read_kddcup(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  // The first line is a header; the second decides whether ratings have a date and a time.
  const std::size_t first = std::min(text.view().find('\n'), text.view().size());
  const std::string_view rest = text.view().substr(std::min(first + 1, text.view().size()));
  return parse_lines(text, 0, KddCup(scale, rest.substr(0, rest.find('\n'))), options);
}

std::vector<std::string> netflix_files(const std::string& folder) {
  for (const char* prefix : {"mv_", "combined_data_"}) {
    std::vector<std::string> files;
    std::error_code error;
    const std::filesystem::directory_iterator entries(folder, error);
    if (error) fail(ErrorKind::data, "{}: cannot be listed: {}", folder, error.message());
    for (const auto& entry : entries) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix) && name.find(".txt") != std::string::npos) {
        files.push_back(entry.path().string());
      }
    }
    std::sort(files.begin(), files.end());
    if (!files.empty()) return files;
  }
  return {};
}

RawRatings read_netflix_folder(const std::string& folder, const ScaleCheck& scale,
                               const ParseOptions& options) {
  const std::vector<std::string> files = netflix_files(folder);
  if (files.empty()) {
    fail_in_file(folder, "a folder without ratings",
                 "files mv_*.txt or combined_data_*.txt of the Netflix Prize");
  }
  return concatenate(read_files(files, scale, options));
}

AlignedVector<std::uint8_t> netflix_probe_parts_chunked(const Ratings& ratings,
                                                        const std::string& probe_path,
                                                        const ParseOptions& options) {
  AlignedVector<std::uint8_t> parts(static_cast<std::size_t>(ratings.nnz()), kTrain);
  const Text text = open_text(probe_path);
  const ProbeEntry entry(ratings, parts);
  const RawRatings listed = parse_lines(text, 0, MovieGroups(entry), options);
  if (listed.users.empty()) {
    fail_in_file(probe_path, "no customers", "lines movie: followed by lines customer");
  }
  return parts;
}

}  // namespace mf
