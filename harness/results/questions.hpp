// Questions that figures and pages ask about numbers they have chosen: the rules of answer.hpp and
// of stats.hpp, for programs in other languages.
#pragma once

#include <iosfwd>

#include "base/json/json_fwd.hpp"

namespace mf {

// {"ask": "metric", "metric": "ndcg@10"}
//     its row: {"key": "ndcg_10", "title", "unit", "better", "part", "measure", "k", "format"}, or
//     null
// {"ask": "metrics"}
//     all rows, as `mfbench schema metrics` prints them
// {"ask": "first at target", "metric": "test_rmse", "target": 0.9, "runs": [[1.1, 0.9], [1.2]]}
//     for each run the place of the first value at or beyond the target, or null: [1, null]
// {"ask": "ratio", "of": [8, 9, 10], "over": [2, 2.1, null]}
//     {"value", "low", "high"} of the ratio of the medians, null being a run that never got there;
//     the interval from three runs a side on
// {"ask": "ratio of pairs", "of": [...], "over": [...]}
//     the same of the median of the ratios pair by pair
// {"ask": "targets", "metric": "test_rmse", "named": 0.9, "frozen": [0.92, 0.9, 0.88], "racers":
//  [{"answers": [], "quality": [0.91, 0.9]}, ...]}
//     the levels of winner.hpp; "named" may be null, "frozen" empty
// {"ask": "finish", "racers": [{"answers": [8, 9, null], "quality": []}, ...]}
//     the places of those that reach the target, the first in front
// {"ask": "winner", "metric": "test_rmse", "target": 0.9, "named": true, "data": "ml-1m",
//  "quality": "test_rmse", "racers": [{"name", "answers", "quality", "contended"}, ...]}
//     who wins, in words
// {"ask": "columns", "names": ["sku", "userId", "qty"], "columns": {"item": "sku"}}
//     the places of a table's columns, as of a header: {"user": 1, "item": 0, "rating": 2, "time":
//     null}; rating is null where two columns are pairs, and with "pairs": true
// Throws Error(usage) for what is no question.
Json answer_question(const Json& question);

// A question a line, an answer a line, until the end of the input: {"id": ..., "answer": ...} with
// the question's own "id", or {"error": ...} in the place of the answer.
void answer_questions(std::istream& in, std::ostream& out);

}  // namespace mf
