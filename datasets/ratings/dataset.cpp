#include "datasets/ratings/dataset.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/counted.hpp"
#include "base/json/json.hpp"
#include "datasets/ratings/scale_form.hpp"

namespace mf {

std::optional<std::string> why_no_scale(const RatingScale& scale) {
  const auto [min, max, step] = scale;
  if (!std::isfinite(min) || !std::isfinite(max)) {
    return fmt::format("{} to {} is not a range", min, max);
  }
  if (!(min < max)) return fmt::format("min {} is not below max {}", min, max);
  if (!std::isfinite(step) || step < 0) {
    return fmt::format("step {} is not a step; expected a number above 0, or 0 for none", step);
  }
  const float finest =
      std::max(std::abs(min), std::abs(max)) * std::numeric_limits<float>::epsilon();
  if (step == 0 || step >= finest) return std::nullopt;
  return fmt::format(
      "step {} is finer than ratings, which are floats, tell apart between {} and {}; expected {} "
      "or more, or 0 for any value",
      step, min, max, finest);
}

const Form<RatingScale>& rating_scale_form() {
  static const auto form =
      Form<RatingScale>()
          .number("min", &RatingScale::min, -1e9, 1e9, "")
          .required()
          .number("max", &RatingScale::max, -1e9, 1e9, "")
          .required()
          .number("step", &RatingScale::step, 0, 1e9, "0: any value in between")
          .then([](JsonReader& reader, RatingScale& scale) {
            if (reader.number("step", 0, 0, 1e9) > 0 && scale.step == 0) {
              fail(ErrorKind::usage,
                   "{}: found a step that no float holds, expected a larger one, or 0",
                   reader.path("step"));
            }
            if (const auto why = why_no_scale(scale)) {
              fail(ErrorKind::usage, "{}: {}", reader.where(), *why);
            }
          });
  return form;
}

std::string DatasetInfo::repeats() const {
  const std::string what = duplicate_policy == "last" ? "the last" : "their " + duplicate_policy;
  return counted(duplicate_pairs, "pair") + " with more than one rating: " + what + " counts";
}

Json ImplicitInfo::to_json() const {
  return {{"min_rating", rule.min_rating},
          {"value", kImplicitValueNames.of(rule.value)},
          {"ratings_dropped", ratings_dropped},
          {"users_dropped", users_dropped},
          {"items_dropped", items_dropped}};
}

}  // namespace mf
