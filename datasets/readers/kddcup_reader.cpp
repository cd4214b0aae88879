// KDD Cup 2011 (Yahoo! Music), track 1: a line "user|count", then count lines
// "item<tab>score<tab>date<tab>time". Lines "item<tab>score", as in track 2, are read as well.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>

#include "datasets/readers/fields.hpp"
#include "datasets/readers/reader_formats.hpp"

namespace mf {
namespace {

class KddCup : public LineFormat {
 public:
  static constexpr char kHeaderMark = '|';
  struct State {
    std::int32_t user = -1;  // none yet
    std::int64_t left = 0;   // ratings of this user still to come
    std::int64_t count = 0;  // declared
  };
  KddCup(const ScaleCheck& scale, std::string_view first_rating)
      : scale_(scale),
        has_date_(std::count(first_rating.begin(), first_rating.end(), '\t') >= 2),
        line_(has_date_ ? "item<tab>score<tab>date<tab>time" : "item<tab>score") {}

  bool has_date() const { return has_date_; }

  State next(State state, const ChunkScan& scan) const {
    if (scan.header != nullptr) {
      const char* p = scan.header;
      std::uint64_t user = 0;
      std::uint64_t count = 0;
      constexpr auto max = std::numeric_limits<std::int32_t>::max();
      // A malformed header ends the parse: later lines do not matter.
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
      read_separator(p, '\t', field, line_);
      field = p;
    };
    next();
    const float value = read_rating(p, scale_);
    if (has_date_ && out.times != nullptr) {
      next();
      out.times->add(read_moment(p, next));
    } else if (has_date_) {
      next();
      skip_date<'-'>(p, "a date (a number of days)");
      next();
      skip_date<':', '.'>(p, "a time such as 19:09:00");
    } else if (*p != '\t' && !at_line_end(p)) {
      fail_field(field, scale_.describe());
    }
    read_line_end(p, line_);
    out.add(state.user, item, value);
    --state.left;
  }

  // Days and a time of the day, as seconds.
  template <class Next>
  static Moment read_moment(const char*& p, const Next& next) {
    constexpr std::int64_t kDay = 86400;
    constexpr std::uint64_t kMostDays = 1'000'000'000'000;
    const char* begin = p;
    std::uint64_t days = 0;
    if (!read_integer(p, kMostDays, days)) fail_field(begin, "a date (a number of days)");
    next();
    begin = p;
    Moment time;
    if (!read_clock(p, time)) fail_field(begin, "a time such as 19:09:00");
    time.whole += static_cast<std::int64_t>(days) * kDay;
    return time;
  }

  [[noreturn]] static void fail_too_few(const char* at, const std::string& found,
                                        const State& state) {
    throw LineError{
        at,
        found + fmt::format(" after {} ratings of user {}", state.count - state.left, state.user),
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

}  // namespace

RawRatings read_kddcup(const Text& text, const ScaleCheck& scale, const ParseOptions& options) {
  // The first line is a header; the second decides whether ratings have a date and a time.
  const std::size_t first = std::min(text.view().find('\n'), text.view().size());
  const std::string_view rest = text.view().substr(std::min(first + 1, text.view().size()));
  const std::string_view rating = rest.substr(0, rest.find('\n'));
  const KddCup format(scale, rating);
  if (options.times && !format.has_date())
    fail_without_times(text.path, "the first rating " + in_quotes(rating));
  return parse_lines(text, 0, format, options);
}

}  // namespace mf
