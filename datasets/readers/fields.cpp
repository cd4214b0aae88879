#include "datasets/readers/fields.hpp"

#include <fmt/core.h>

namespace mf {

ScaleCheck::ScaleCheck(const std::optional<RatingScale>& scale) : declared_(scale.has_value()) {
  if (!declared_) return;
  scale_ = *scale;
  if (scale_.step > 0) per_step_ = 1.0 / double{scale_.step};
}

std::string ScaleCheck::describe() const {
  if (!declared_) return "a rating (a finite decimal number)";
  std::string text = fmt::format("a rating from {} to {}", scale_.min, scale_.max);
  if (scale_.step > 0) text += fmt::format(" in steps of {}", scale_.step);
  return text;
}

void fail_id(const char* begin, const char* what, const char* advice) {
  fail_field(
      begin,
      std::string(*what == 'i' ? "an " : "a ") + what + " id (an integer from 0 to 2147483647)",
      advice);
}

void fail_separator(const char* p, char separator, const char* field, const std::string& line) {
  const char* name = separator == '\t' ? "a tab" : "a comma";
  if (at_line_end(p)) fail_field(p, fmt::format("{} and another column ({})", name, line));
  fail_field(field, fmt::format("a number and {} ({})", name, line));
}

}  // namespace mf
