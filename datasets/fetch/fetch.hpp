// Starts fetch.py, which downloads data sets of the catalog.
#pragma once

#include <string>
#include <vector>

namespace mf {

struct FetchOptions {
  std::string name;
  std::string folder;  // empty: the first of data_folders()
  std::string mirror;  // URL of a folder, instead of that of the catalog's URL
  bool again = false, quiet = false;
};

// This process becomes that of fetch.py, with its output and its exit code. Throws where there is
// no such set (with the nearest name), no script or no Python.
[[noreturn]] void fetch_dataset(const FetchOptions& options);

// The same for any script of the source; `needs` says which Python it asks for.
[[noreturn]] void become_script(const std::string& file, std::vector<std::string> words,
                                const char* needs);

// A file of the source. Throws Error(unsupported) if it is not beside this program.
std::string source_file(const std::string& file);

// This process becomes the program of these words; returns if that cannot be started.
void become(std::vector<std::string> words);

}  // namespace mf
