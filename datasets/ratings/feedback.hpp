// What the values of ratings are.
#pragma once

#include "base/json/names.hpp"
#include "base/view.hpp"

namespace mf {

enum class Feedback {
  stars,   // of a scale: explicit
  counts,  // how often: implicit
  pairs,   // one value alone: implicit
};
inline constexpr Names kFeedbackNames{std::to_array<Named<Feedback>>(
    {{"stars", Feedback::stars}, {"counts", Feedback::counts}, {"pairs", Feedback::pairs}})};

// What they look like. One value alone: pairs. Whole numbers from 0 on, up to more than 100, or up
// to more than 10 and 1 the most frequent of them: counts. All others: stars.
Feedback feedback_of(View<const float> values);

}  // namespace mf
