// The kinds of values that ratings have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json/names.hpp"
#include "base/threads.hpp"
#include "base/view.hpp"

namespace mf {

enum class Feedback {
  stars,   // of a scale: explicit
  counts,  // how often: implicit
  pairs,   // all of one value: implicit
};
inline constexpr Names kFeedbackNames{std::to_array<Named<Feedback>>(
    {{"stars", Feedback::stars}, {"counts", Feedback::counts}, {"pairs", Feedback::pairs}})};

// The likely kind of feedback: pairs if all are equal; counts if they are whole numbers from 0 on
// and the largest is above 100, or above 10 with 1 as the most frequent; stars otherwise.
Feedback feedback_of(View<const float> values);

// "the values look like counts, ...": why algorithms of ratings do not suit them; empty for stars.
std::optional<std::string> why_no_stars(View<const float> values);

// A warning if the lowest value lies below the scale of the others, as -1 does below 1 to 5: it may
// mark pairs without a rating. Only for whole and half stars.
std::optional<std::string> lone_lowest(View<const float> values);

// Counts of values that implicit feedback cannot have, and that mean "not observed".
struct Signs {
  std::int64_t zeros = 0;
  std::int64_t first_negative = -1;  // its index; -1: none
};
Signs signs_of(View<const float> values, ThreadTeam& team);

}  // namespace mf
