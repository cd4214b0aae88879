// The figures and the report of results, which plots/mfplots makes in a Python.
#pragma once

#include <string>
#include <vector>

namespace mf {

inline constexpr const char* kFigures = "mfplots";      // its modules: of `mfbench plot`
inline constexpr const char* kReport = "mfplots.site";  // of `mfbench report`

// This process becomes the Python that makes them of these words. Throws Error(unsupported) without
// a Python; one that lacks packages says which and how they are installed.
[[noreturn]] void become_plots(const char* module, const std::vector<std::string>& words);

struct Drawn {
  bool done = false;
  std::vector<std::string> lines;  // that it printed
  std::string said;                // on standard error, or why it was not started
};
// The same as a child process, for which this one waits and whose failure it survives.
Drawn run_plots(const char* module, const std::vector<std::string>& words);

}  // namespace mf
