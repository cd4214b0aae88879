// The Netflix Prize: a line "movie:", then its ratings "customer,rating,date"; one file, or a
// folder of them. Its probe file has lines "customer" instead.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/mapped_file.hpp"
#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

// Movie groups. `Entry` reads the rest of a line behind the customer.
template <class Entry>
class MovieGroups : public LineFormat {
 public:
  static constexpr char kHeaderMark = ':';
  struct State {
    std::int32_t movie = -1;  // none yet
  };
  explicit MovieGroups(const Entry& entry) : entry_(entry) {}

  // A time of the day has the mark, too.
  static bool is_header(const char* line) {
    skip_digits<>(line);
    return *line == ':' && at_line_end(line + 1);
  }

  // A header that is not a number ends the parse, so later lines do not matter.
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
    if (state.movie < 0) [[unlikely]]
      fail_field(begin, "a line movie: before the first customer");
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
    read_separator(p, ',', begin, kLine);
    begin = p;
    const float value = read_rating(p, scale_);
    read_separator(p, ',', begin, kLine);
    if (out.times != nullptr) {
      out.times->read(p);
    } else {
      skip_time<'-'>(p);
    }
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
    std::atomic_ref<std::uint8_t>(parts_[at]).store(kTest, std::memory_order_relaxed);
    out.add(user, movie, 0);
  }

 private:
  static std::int64_t position(View<const std::int32_t> sorted, std::int32_t value) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
    return at != sorted.end() && *at == value ? at - sorted.begin() : -1;
  }

  std::int64_t find(std::int32_t user_id, std::int32_t item_id) const {
    const std::int64_t user = position(ratings_.user_ids(), user_id);
    const std::int64_t item = position(ratings_.item_ids(), item_id);
    if (user < 0 || item < 0) return -1;
    const auto offsets = ratings_.user_offsets().part(user, user + 2);
    const auto row = ratings_.items().part(offsets[0], offsets[1]);
    const std::int64_t in_row = position(row, static_cast<std::int32_t>(item));
    return in_row < 0 ? -1 : offsets[0] + in_row;
  }

  const Ratings& ratings_;
  AlignedVector<std::uint8_t>& parts_;
};

RawRatings read_file(const std::string& file, const ScaleCheck& scale,
                     const ParseOptions& options) {
  return of_whole_files([&] {
    const Text text = open_text(file);
    if (text.view().empty()) {
      fail_in_file(file, "an empty file", "ratings", "it may be cut short: unpack it again");
    }
    return read_netflix(text, scale, options);
  });
}

// Few large files are parsed by all threads one after another; many small ones at once.
std::vector<RawRatings> read_files(const std::vector<std::string>& files, const ScaleCheck& scale,
                                   const ParseOptions& options) {
  std::vector<RawRatings> parts(files.size());
  if (std::ssize(files) < 4 * std::max(options.threads, 1)) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      parts[f] = read_file(files[f], scale, options);
    }
    return parts;
  }
  std::vector<std::exception_ptr> errors(files.size());
  ThreadTeam team(options.threads);
  ParseOptions single_threaded = options;
  single_threaded.threads = 1;
  team.for_chunks(std::ssize(files), 1, [&](std::int64_t f, std::int64_t) {
    try {
      parts[f] = read_file(files[f], scale, single_threaded);
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
  if (!parts.front().times.empty()) all.times.reserve(count);
  for (auto& part : parts) {
    all.users.insert(all.users.end(), part.users.begin(), part.users.end());
    all.items.insert(all.items.end(), part.items.begin(), part.items.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    all.times.insert(all.times.end(), part.times.begin(), part.times.end());
    part = {};
  }
  return all;
}

}  // namespace

RawRatings read_netflix(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  const NetflixRating entry(scale);
  return parse_lines(text, 0, MovieGroups(entry), options);
}

namespace {

// Excludes leftovers of an editor or a download.
bool is_text(std::string_view name) {
  const std::size_t at = name.rfind(".txt");
  if (at == name.npos) return false;
  const std::string_view packed = name.substr(at + 4);
  return packed.empty() || packed == ".gz" || packed == ".xz" || packed == ".zst" ||
         packed == ".bz2" || packed == ".zip";
}

}  // namespace

std::vector<std::string> netflix_files(const std::string& folder) {
  for (const char* prefix : {"mv_", "combined_data_"}) {
    std::vector<std::string> files;
    std::error_code error;
    const std::filesystem::directory_iterator entries(folder, error);
    if (error) fail(ErrorKind::data, "{}: cannot be listed: {}", folder, cause_of(error.value()));
    for (const auto& entry : entries) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix) && is_text(name)) {
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
  if (!ratings.user_names().empty() || !ratings.item_names().empty()) {
    fail_in_file(probe_path, "a probe of ratings whose ids are text", "ratings with integer ids");
  }
  AlignedVector<std::uint8_t> parts(ratings.nnz(), kTrain);
  const Text text = open_text(probe_path);
  const ProbeEntry entry(ratings, parts);
  const RawRatings listed = parse_lines(text, 0, MovieGroups(entry), options);
  if (listed.users.empty()) {
    fail_in_file(probe_path, "no customers", "lines movie: followed by lines customer");
  }
  return parts;
}

}  // namespace mf
