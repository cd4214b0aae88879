// What figures and pages ask of numbers that they have chosen: the rules of answer.hpp and of
// stats.hpp, for programs in other languages.
#pragma once

#include <iosfwd>

#include "base/json/json_fwd.hpp"

namespace mf {

// docs/results.md, "Questions", has the forms. Throws Error(usage) for what is no question.
Json answer_question(const Json& question);

// A question a line, an answer a line, until the end of the input; {"error": ...} for a line
// that is no question.
void answer_questions(std::istream& in, std::ostream& out);

}  // namespace mf
