#include "datasets/fetch/fetch.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/shared_folder.hpp"
#include "datasets/fetch/catalog.hpp"

namespace mf {

void fetch_dataset(const FetchOptions& options) {
  find_catalog_entry(options.name);
  const auto script = beside_program("datasets/fetch/fetch.py");
  if (!script) {
    fail(
        ErrorKind::unsupported,
        "datasets/fetch/fetch.py of the source is not beside this program; install mfbench, or run "
        "the program of a build folder");
  }
  const char* own = std::getenv("PYTHON");
  const std::string folder = options.folder.empty() ? data_folders().front() : options.folder;
  std::vector<std::string> words = {own != nullptr && *own != '\0' ? own : "python3", *script,
                                    options.name, "--into=" + folder};
  if (!options.mirror.empty()) words.push_back("--mirror=" + options.mirror);
  if (options.again) words.emplace_back("--again");
  if (options.quiet) words.emplace_back("--quiet");
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments.front(), arguments.data());
  fail(ErrorKind::unsupported,
       "{}: cannot be started: {}; data fetch needs Python 3 with pooch (python3-pooch)",
       words.front(), last_cause());
}

}  // namespace mf
