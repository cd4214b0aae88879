// The names of a spec's cases, which are those of their files, and of the spec itself, which is
// that of their folder.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment/spec.hpp"

namespace mf {

// For a result file, with its ".jsonl".
inline constexpr std::size_t kLongestFileName = 120;

// Letters, digits, '.' and '_' of a text, with '-' for what stands between them; at most 60.
std::string slug(const std::string& text);

// "reg" of "params.reg".
std::string leaf(const std::string& key);

// A text as it is, all else as JSON.
std::string setting_text(const Json& value);

// Gives every case its id: algorithm, factors, what differs among the cases of this spec as far as
// it fits, the data set's label, the seed, and the first 10 digits of its hash.
//   ebgtg-f50-stride250-lr0.02-ml-100k-s3-1f0c9a77b2
// And its name, data_name and title, which have all that differs and no hash.
void name_cases(std::vector<Case>& cases);

}  // namespace mf
