// Fuzz targets: functions that read bytes which may come from a stranger. Each target runs the
// program's code, and answers with nothing (the input was taken) or with an Error (it was refused).
// Everything else is a finding: another exception, a property that does not hold, a report of a
// sanitizer.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "base/files/mapped_file.hpp"

namespace mf::fuzz {

using Run = void (*)(std::string_view input);

struct Target {
  const char* name;
  Run run;
  std::size_t parts = 1;  // of an input (mutate.hpp)
};

// The targets of all linked sources, in the order of their names.
const std::vector<Target>& targets();
const Target* find_target(std::string_view name);

struct Registrar {
  explicit Registrar(const Target& target);
};

// Whether the target takes the input. Ends the program, with a message, on a finding.
bool takes(const Target& target, std::string_view input);

// A property that holds for whatever was taken.
void expect(bool holds, const char* property);
// Whether the call ends without an Error.
bool accepts(const std::function<void()>& call);

// The input as the readers have a file. Not mapped: memory behind its end may not be read.
inline Bytes bytes_of(std::string_view input) { return {input, nullptr}; }

}  // namespace mf::fuzz
