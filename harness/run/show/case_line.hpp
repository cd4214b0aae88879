// The line for a case that has ended.
#pragma once

#include <optional>
#include <string>

#include "base/terminal.hpp"
#include "harness/results/files/case_result.hpp"
#include "harness/results/files/result_file.hpp"

namespace mf {

// "rmse 0.5406 to 0.6 in 12.1 ms", or the time of the answer if the spec names no target; empty for
// a case that did not complete.
std::string numbers_text(const std::optional<ResultFile>& file);

// "completed", "contended", "error: why".
std::string ending_text(const CaseResult& result);
std::optional<Colour> ending_colour(const CaseResult& result);

}  // namespace mf
