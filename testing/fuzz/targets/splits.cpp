// Splits that a spec asks for, and parts that come as files of their own.
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "datasets/dataset_entry.hpp"
#include "datasets/implicit_rule.hpp"
#include "datasets/readers/reader_formats.hpp"
#include "datasets/split/given_parts.hpp"
#include "datasets/split/split.hpp"
#include "testing/fuzz/mutate.hpp"
#include "testing/fuzz/properties.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

RawRatings read_raw(std::string_view text) {
  return read_triples(make_text("input", bytes_of(text)), ScaleCheck(std::nullopt), ParseOptions());
}

Ratings read_canonical(std::string_view text) {
  auto ratings = make_canonical(read_raw(text));
  if (!ratings) fail(ErrorKind::data, "ids that are too large for this target");
  return std::move(*ratings);
}

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, float>;

void add_pairs(const Ratings& part, Pairs& all) {
  for (std::int64_t i = 0; i < part.nnz(); ++i) {
    const bool is_new =
        all.emplace(std::pair(part.users()[i], part.items()[i]), part.values()[i]).second;
    expect(is_new, "a rating is in only one part");
  }
}

void check_split(const Ratings& all, const Split& split) {
  Pairs joined;
  for (const Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in}) {
    if (part->nnz() == 0) continue;
    check_ratings(*part);
    expect(part->n_users() == all.n_users() && part->n_items() == all.n_items(),
           "parts are over the users and items of the whole");
    add_pairs(*part, joined);
  }
  Pairs given;
  add_pairs(all, given);
  expect(joined == given, "the parts are the whole");
}

// A split and the ratings; the third of each three is labelled for the test.
void split(std::string_view input) {
  const auto parts = parts_of(input, 2);
  const SplitKeys keys = default_split_form().parse(parse_json(parts[0], "split"), "$.split");
  Dataset data;
  data.ratings = read_canonical(parts[1]);
  const SplitSpec spec = keys.spec(7);
  if (spec.kind == SplitSpec::Kind::given) {
    AlignedVector<std::uint8_t> labels(data.ratings.nnz());
    for (std::int64_t i = 0; i < std::ssize(labels); ++i) labels[i] = i % 3 == 2 ? kTest : kTrain;
    data.parts = std::move(labels);
  }
  if (spec.needs_times()) {
    AlignedVector<RatingTime> times(data.ratings.nnz());
    for (std::int64_t i = 0; i < std::ssize(times); ++i)
      times[i] = {i / 3, std::ssize(times) - 1 - i};
    data.times = RatingTimes(std::move(times));
  }
  const Split cut = make_split(data, spec, 1);
  check_split(data.ratings, cut);
  check_split(data.ratings, make_split(data, spec, 2));
  accepts([&] {
    const Dataset observed_data = observed(data, {3, ImplicitValue::rating}, 1);
    check_ratings(observed_data.ratings);
  });
}

void given(std::string_view input) {
  const auto texts = parts_of(input, 3);
  std::vector<GivenPart> parts;
  std::int64_t nnz = 0;
  for (const Part label : {kTrain, kTest, kValidation}) {
    if (texts[label].empty()) continue;
    nnz += read_canonical(texts[label]).nnz();
    parts.push_back({label, "part", read_raw(texts[label])});
  }
  if (parts.empty()) fail(ErrorKind::data, "no part");
  const JoinedParts joined = join_parts(std::move(parts), DuplicatePolicy::mean, 1, "set");
  check_ratings(joined.ratings);
  expect(joined.ratings.nnz() == nnz && std::ssize(joined.labels) == nnz,
         "every rating of a part is in the whole, with its label");
}

const Registrar split_target({"split", split, 2});
const Registrar given_target({"given", given, 3});

}  // namespace
}  // namespace mf::fuzz
