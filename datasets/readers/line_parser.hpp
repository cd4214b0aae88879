// Internal: parses the lines of a text in parallel, in file order.
//
// The text is cut into chunks at line ends. A first pass counts the lines of each chunk, and with
// them the most ratings that it can have, and finds its last group header (a "movie:" line); a
// serial walk over those counts tells every chunk where its ratings go and in which group it
// starts. So the second pass parses all chunks at once, straight into their final places, and still
// sees the first error in file order.
//
// A format is a class derived from LineFormat:
//   struct State             what a line needs to know about the lines before it
//   void line(const char*& p, State&, Sink&) const
//                            parses one line, '\n' included, or throws LineError
//   using Sink               RatingSink: a line has at most one rating; ManySink: any number, and
//   static std::int64_t most_ratings(const TextChunk&, std::int64_t lines)
//                            says how many the lines of a chunk have at most
//   void finish(const State&, const char* end) const     called after the last line
//   State next(State, const ChunkScan&) const            the state after a chunk, from its scan
//   static constexpr char kHeaderMark                    a byte of every group header; 0: the
//                                                        lines are independent
//   static bool is_header(const char* line)              tells one from other lines with that byte
//   NamedColumns named() const                           which columns of ids are names; with
//   static constexpr bool kNames                         true; their numbers go to RatingSink
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "datasets/ratings/ratings.hpp"
#include "datasets/readers/columns.hpp"
#include "datasets/readers/id_columns.hpp"
#include "datasets/readers/parse_error.hpp"
#include "datasets/readers/text_source.hpp"
#include "datasets/readers/times.hpp"

namespace mf {

struct ParseOptions {
  int threads = 1;
  std::size_t chunk_bytes = std::size_t{1} << 22;  // tests use a few bytes
  IdKind ids = IdKind::automatic;
  ColumnNames columns = {};
  bool times = false;
  bool leave_out_damaged = false;
  std::string* columns_taken = nullptr;  // gets them if given (datasets/readers/columns.hpp)
};

// Throws LineError: the text has changed since its lines were counted.
[[noreturn]] void fail_more_ratings(const char* line);

// Where the next rating goes.
struct RatingSink {
  std::int32_t* user;
  std::int32_t* item;
  float* value;
  ChunkNames* names;  // of formats with names
  IdKind ids;
  ChunkTimes* times;  // if asked for
  void add(std::int32_t u, std::int32_t i, float v) {
    *user++ = u;
    *item++ = i;
    *value++ = v;
  }
};

// For lines with any number of ratings: asks at each whether there is room.
struct ManySink : RatingSink {
  const char* line;   // the one that is parsed
  const float* room;  // the end of what the chunk has
  void add(std::int32_t u, std::int32_t i, float v) {
    check_room();
    RatingSink::add(u, i, v);
  }
  // With its time, if times are asked for.
  void add(std::int32_t u, std::int32_t i, float v, const Moment& time) {
    check_room();
    if (times != nullptr) times->add(time);
    RatingSink::add(u, i, v);
  }

 private:
  void check_room() const {
    if (value == room) [[unlikely]]
      fail_more_ratings(line);
  }
};

// Whole lines: end[-1] is '\n', and kTextPadding characters from there on can be read, so that a
// line can be read in words.
inline constexpr std::int64_t kTextPadding = 8;
struct TextChunk {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t offset = 0;  // of begin in the text
};

struct ChunkScan {
  std::int64_t lines = 0;
  const char* header = nullptr;  // the last one
  std::int64_t lines_after_header = 0;
};

// A text from `begin` on, cut into chunks, without blank lines at its end. The last lines, as many
// as make the padding of those before, are copied into a separate chunk with its own padding and,
// if the text ends without one, a newline.
class ChunkedText {
 public:
  ChunkedText(std::string_view text, std::size_t begin, std::size_t chunk_bytes);
  const std::vector<TextChunk>& chunks() const { return chunks_; }
  // Threads that find work: the last chunk is only a few lines.
  int threads(int at_most) const {
    return static_cast<int>(
        std::clamp<std::int64_t>(std::ssize(chunks_) - 1, 1, std::max(at_most, 1)));
  }

 private:
  std::string tail_;
  std::vector<TextChunk> chunks_;
};

std::int64_t count_lines(const char* begin, const char* end);
ChunkScan scan_chunk(const TextChunk& chunk, char header_mark, bool (*is_header)(const char*));

// Moves the ratings of each chunk up to those before it, over the places that header lines left
// empty. Chunk c was written from first[c] on and has written[c] ratings. Moves `times`, too, if
// there are any.
void close_gaps(RawRatings& raw, const std::vector<std::int64_t>& first,
                const std::vector<std::int64_t>& written);

struct LineFormat {
  static constexpr char kHeaderMark = '\0';
  static constexpr bool kNames = false;
  struct State {};
  using Sink = RatingSink;
  static std::int64_t most_ratings(const TextChunk&, std::int64_t lines) { return lines; }
  static bool is_header(const char*) { return true; }
  State next(State state, const ChunkScan&) const { return state; }
  template <class AnyState>
  void finish(const AnyState&, const char*) const {}
};

// The first chunk of a text in which parsing found an error; chunks after it need not be parsed.
class FirstError {
 public:
  explicit FirstError(std::int64_t chunks)
      : errors_(static_cast<std::size_t>(chunks)), first_(chunks) {}

  bool before(std::int64_t chunk) const { return chunk > first_.load(std::memory_order_relaxed); }
  void note(std::int64_t chunk, LineError error) {
    errors_[static_cast<std::size_t>(chunk)] = std::move(error);
    std::int64_t first = first_.load();
    while (chunk < first && !first_.compare_exchange_weak(first, chunk)) {
    }
  }
  // Throws Error(data) if there is one, NamesFound if it is the first name among integers.
  void check(const Text& text, const std::vector<TextChunk>& chunks, IdKind ids) const;
  // Says that lines were left out, how many and why the first, if there is one.
  void warn_left_out(const Text& text, const std::vector<TextChunk>& chunks,
                     const std::vector<std::int64_t>& left_out) const;

 private:
  std::vector<std::optional<LineError>> errors_;
  std::atomic<std::int64_t> first_;
};

// Parses the line at p, or passes over one that does not fit, of which it returns why.
template <class Format, class State, class Sink>
std::optional<LineError> line_if_it_fits(const Format& format, const char*& p, State& state,
                                         Sink& sink) {
  const char* const begin = p;
  const Sink before = sink;
  std::int64_t* const next_time = sink.times == nullptr ? nullptr : sink.times->next;
  try {
    format.line(p, state, sink);
    return std::nullopt;
  } catch (LineError& error) {
    sink = before;
    if (sink.times != nullptr) sink.times->next = next_time;
    p = begin;
    while (*p != '\n') ++p;
    ++p;
    return std::move(error);
  }
}

// Parses the text from offset `begin` on. Throws Error(data) for the first line in file order that
// does not fit, unless such lines are left out. Lines of groups never are: one may be the header of
// the next group.
template <class Format>
RawRatings parse_lines(const Text& text, std::size_t begin, const Format& format,
                       const ParseOptions& options, typename Format::State state = {}) {
  const ChunkedText chunked(text.view(), begin, options.chunk_bytes);
  const auto& chunks = chunked.chunks();
  const std::int64_t n = std::ssize(chunks);
  ThreadTeam team(chunked.threads(options.threads));
  const auto for_each_chunk = [&](const auto& body) {
    team.for_chunks(n, 1, [&](std::int64_t c, std::int64_t) { body(c); });
  };

  std::vector<ChunkScan> scans(n);
  std::vector<std::int64_t> first(n + 1, 0);
  for_each_chunk([&](std::int64_t c) {
    scans[c] = scan_chunk(chunks[c], Format::kHeaderMark, Format::is_header);
    first[c + 1] = Format::most_ratings(chunks[c], scans[c].lines);
  });
  std::vector<typename Format::State> states(n);
  for (std::int64_t c = 0; c < n; ++c) {
    first[c + 1] += first[c];
    states[c] = state;
    state = format.next(state, scans[c]);
  }

  RawRatings raw;
  const std::int64_t most = first[n];
  raw.users.resize(most);
  raw.items.resize(most);
  raw.values.resize(most);
  if (options.times) raw.times.resize(most);
  std::vector<std::int64_t> written(n, 0);
  std::vector<ChunkNames> names(Format::kNames ? static_cast<std::size_t>(n) : 0);
  std::vector<ChunkTimes> times(n);
  constexpr bool kMany = std::is_base_of_v<ManySink, typename Format::Sink>;
  const bool leaves_out = options.leave_out_damaged && Format::kHeaderMark == '\0';
  FirstError errors(n), damaged(n);
  std::vector<std::int64_t> left_out(n, 0);
  for_each_chunk([&](std::int64_t c) {
    if (errors.before(c)) return;
    const std::int64_t at = first[c];
    typename Format::Sink sink;
    static_cast<RatingSink&>(sink) = {
        raw.users.data() + at,
        raw.items.data() + at,
        raw.values.data() + at,
        Format::kNames ? &names[static_cast<std::size_t>(c)] : nullptr,
        options.ids,
        options.times ? &times[static_cast<std::size_t>(c)] : nullptr};
    if (options.times) sink.times->first = sink.times->next = raw.times.data() + at;
    // A copy: neighbours in `states` share a cache line, and some formats write theirs at every
    // line.
    auto own = states[c];
    try {
      const char* p = chunks[c].begin;
      const float* const room = raw.values.data() + first[c + 1];
      if constexpr (kMany) sink.room = room;
      while (p < chunks[c].end) {
        if constexpr (kMany) {
          sink.line = p;
        } else if (sink.value == room) [[unlikely]] {
          fail_more_ratings(p);
        }
        if (!leaves_out) {
          format.line(p, own, sink);
        } else if (auto error = line_if_it_fits(format, p, own, sink)) {
          if (left_out[c]++ == 0) damaged.note(c, std::move(*error));
        }
      }
      if (c + 1 == n) format.finish(own, p);
      written[c] = sink.value - raw.values.data() - at;
    } catch (LineError& error) {
      errors.note(c, std::move(error));
    }
  });
  errors.check(text, chunks, options.ids);
  damaged.warn_left_out(text, chunks, left_out);
  finish_times(text.path, times);
  if constexpr (Format::kNames) number_rows(raw, format.named(), names, first, written, team);
  close_gaps(raw, first, written);
  return raw;
}

}  // namespace mf
