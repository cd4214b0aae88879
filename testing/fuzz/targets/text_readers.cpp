// The readers of texts, one target each, on a text in memory.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

using ReadText = RawRatings (*)(const Text&, const ScaleCheck&, const ParseOptions&);

// The ratings, or the message that refuses them.
struct Outcome {
  std::optional<RawRatings> ratings;
  std::string message;
};

Outcome outcome_of(ReadText read, const Text& text, const ScaleCheck& scale,
                   const ParseOptions& options) {
  try {
    return {read(text, scale, options), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

Outcome outcome_of(ReadText read, const Text& text, const ScaleCheck& scale,
                   std::size_t chunk_bytes, IdKind ids, bool times = false) {
  return outcome_of(read, text, scale, {1, chunk_bytes, ids, {}, times});
}

void same(const Outcome& one, const Outcome& other) {
  expect(one.message == other.message, "a text has one message, however it is cut into chunks");
  if (!one.ratings) return;
  expect(one.ratings->users == other.ratings->users && one.ratings->items == other.ratings->items &&
             one.ratings->values == other.ratings->values &&
             one.ratings->times == other.ratings->times &&
             same_names(one.ratings->user_names, other.ratings->user_names) &&
             same_names(one.ratings->item_names, other.ratings->item_names),
         "a text has the same ratings, however it is cut into chunks");
}

// The same ratings with a time each, of which every one has a place.
void read_timed(const Text& text, ReadText reader, const Outcome& plain) {
  const ScaleCheck any(std::nullopt);
  Outcome timed = outcome_of(reader, text, any, std::size_t{1} << 22, IdKind::automatic, true);
  same(timed, outcome_of(reader, text, any, 7, IdKind::automatic, true));
  if (!timed.ratings) return;
  RawRatings& raw = *timed.ratings;
  expect(plain.ratings && plain.ratings->users == raw.users && plain.ratings->items == raw.items,
         "a text with times can be read without");
  expect(raw.times.size() == raw.values.size(), "every rating has a time");
  const auto ratings = make_canonical(raw);
  if (!ratings) return;
  const auto times = times_of({raw.users, raw.items, raw.times}, *ratings, 1, "input");
  std::vector<bool> seen(static_cast<std::size_t>(ratings->nnz()));
  expect(times.all.size() == ratings->nnz(), "every rating has a time");
  for (const RatingTime& one : times.all) {
    expect(
        one.place >= 0 && one.place < ratings->nnz() && !seen[static_cast<std::size_t>(one.place)],
        "every rating has a place of its own");
    seen[static_cast<std::size_t>(one.place)] = true;
  }
}

// By places of columns, without the lines that do not fit.
void read_placed(const Text& text, ReadText reader) {
  const ScaleCheck any(std::nullopt);
  ParseOptions options;
  options.columns = {"#2", "#1", "#3"};
  options.leave_out_damaged = true;
  const Outcome whole = outcome_of(reader, text, any, options);
  options.chunk_bytes = 7;
  same(whole, outcome_of(reader, text, any, options));
  if (!whole.ratings || whole.ratings->values.empty()) return;
  check_raw(*whole.ratings);
  make_canonical(*whole.ratings);
}

void read(std::string_view input, ReadText reader) {
  const Text text = make_text("input", bytes_of(input));
  const ScaleCheck any(std::nullopt);
  const Outcome whole = outcome_of(reader, text, any, std::size_t{1} << 22, IdKind::automatic);
  same(whole, outcome_of(reader, text, any, 7, IdKind::automatic));
  read_timed(text, reader, whole);
  read_placed(text, reader);
  if (const auto named = outcome_of(reader, text, any, 5, IdKind::text); named.ratings) {
    check_raw(*named.ratings);
    make_canonical(*named.ratings);
  }
  const ScaleCheck halves(RatingScale{0.5F, 5, 0.5F});
  if (const auto scaled = outcome_of(reader, text, halves, 64, IdKind::integers); scaled.ratings) {
    for (const float value : scaled.ratings->values) {
      expect(value >= 0.5F && value <= 5, "ratings are on the declared scale");
    }
  }
  if (!whole.ratings) fail(ErrorKind::data, "{}", whole.message);
  check_raw(*whole.ratings);
  make_canonical(*whole.ratings);
}

template <ReadText reader>
void run(std::string_view input) {
  read(input, reader);
}

// A csv with ratings can be read as pairs, too.
void csv_text(std::string_view input) {
  read(input, read_csv);
  const Text text = make_text("input", bytes_of(input));
  const ScaleCheck any(std::nullopt);
  const RawRatings rated = read_csv(text, any, {});
  const RawRatings pairs = read_csv_pairs(text, any, {});
  expect(rated.users == pairs.users && rated.items == pairs.items,
         "the pairs of a csv are those of its ratings");
  expect(std::ranges::all_of(pairs.values, [](float value) { return value == 1; }),
         "pairs have the value 1");
}

// All four are of one reader.
void delimited(std::string_view input) {
  const bool triples = accepts([&] { read(input, read_triples); });
  const bool tabs = accepts([&] { read(input, read_movielens_tab); });
  const bool colons = accepts([&] { read(input, read_double_colon); });
  const bool pairs = accepts([&] { read(input, read_pairs); });
  if (!triples && !tabs && !colons && !pairs) fail(ErrorKind::data, "no format takes it");
}

// Pairs "movie:", "customer" that a fixed set of ratings has, or has not.
void probe(std::string_view input) {
  RawRatings raw;
  for (std::int32_t i = 0; i < 12; ++i) {
    raw.users.push_back(1 + i % 4);
    raw.items.push_back(1 + i / 4);
    raw.values.push_back(3);
  }
  static const Ratings ratings = make_ratings(raw, DuplicatePolicy::error, 1, "fixed");
  const std::string path = write_scratch("probe.txt", input);
  const auto parts = netflix_probe_parts_chunked(ratings, path, {1, 16});
  expect(std::ssize(parts) == ratings.nnz(), "every rating has a label");
  expect(std::ranges::all_of(parts, [](auto part) { return part == kTrain || part == kTest; }),
         "a label is train or test");
}

const Registrar csv({"csv", csv_text});
const Registrar delimited_target({"delimited", delimited});
const Registrar lists({"lists", run<read_lists>});
const Registrar json_lines({"json_lines", run<read_json_lines>});
const Registrar netflix({"netflix", run<read_netflix>});
const Registrar kddcup({"kddcup", run<read_kddcup>});
const Registrar matrix_market({"matrix_market", run<read_matrix_market>});
const Registrar probe_target({"probe", probe});

}  // namespace
}  // namespace mf::fuzz
