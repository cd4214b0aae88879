#include "datasets/split/observed.hpp"

#include <algorithm>
#include <array>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/key_words.hpp"
#include "datasets/ratings/feedback.hpp"

namespace mf {
namespace {

[[noreturn]] void fail_negative(const Ratings& part, std::int64_t at, const std::string& name) {
  const Rating pair = part[at];
  fail(ErrorKind::data,
       "{}: the value of user {} and item {} is {}; implicit feedback takes values of 0 (not "
       "observed) and above, of all parts of a split; \"implicit\": {{\"min_rating\": ...}} beside "
       "the data set keeps those from there on",
       name, part.user_text(pair.user), part.item_text(pair.item), pair.value);
}

Ratings observed_of(const Ratings& part, ThreadTeam& team) {
  const auto values = part.values();
  AlignedVector<std::uint8_t> keep(values.size());
  std::transform(values.begin(), values.end(), keep.begin(), [](float r) { return r > 0; });
  return select(part, keep, 1, team.size());
}

}  // namespace

std::int64_t keep_observed(Split& split, const std::string& name, ThreadTeam& team) {
  std::int64_t zeros = 0;
  for (Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in}) {
    const Signs signs = signs_of(part->values(), team);
    if (signs.first_negative >= 0) fail_negative(*part, signs.first_negative, name);
    if (part == &split.train && signs.zeros == part->nnz()) {
      fail(ErrorKind::data,
           "{}: all {} values of the training part are 0, which implicit feedback takes for not "
           "observed; say with {} which column has the value, or {} if every line is "
           "an observed pair",
           name, signs.zeros, key_name("columns"), set_key("format", {"pairs"}));
    }
    zeros += signs.zeros;
  }
  if (zeros == 0) return 0;
  // One after the other: each is freed before the next is copied.
  for (Ratings* part : {&split.train, &split.test, &split.validation, &split.fold_in})
    *part = observed_of(*part, team);
  count_cold(split, team);
  return zeros;
}

}  // namespace mf
