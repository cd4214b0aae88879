// Numbers of the command line within their range. Those of CLI11 name the largest double in full.
#pragma once

#include <cstdint>

namespace CLI {
class Validator;
}

namespace mf {

// "found 0, expected an integer from 1 to 1000"
CLI::Validator whole_within(std::int64_t min, std::int64_t max);
// "found x, expected a number above 0"; finite ones alone
CLI::Validator number_above_zero();
CLI::Validator number_from_zero();

}  // namespace mf
