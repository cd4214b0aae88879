#include "datasets/fetch/fetch.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files/files.hpp"
#include "base/files/shared_folder.hpp"
#include "datasets/fetch/catalog.hpp"

namespace mf {

void fetch_dataset(const FetchOptions& options) {
  find_catalog_entry(options.name);
  const std::string folder = options.folder.empty() ? data_folders().front() : options.folder;
  std::vector<std::string> words = {options.name, "--into=" + folder};
  if (!options.mirror.empty()) words.push_back("--mirror=" + options.mirror);
  if (options.again) words.emplace_back("--again");
  if (options.quiet) words.emplace_back("--quiet");
  become_script("datasets/fetch/fetch.py", std::move(words),
                "data fetch needs Python 3 with pooch (python3-pooch)");
}

void become_script(const std::string& file, std::vector<std::string> words, const char* needs) {
  const char* own = std::getenv("PYTHON");
  words.insert(words.begin(),
               {own != nullptr && *own != '\0' ? own : "python3", source_file(file)});
  std::cout.flush();
  become(words);
  fail(ErrorKind::unsupported, "{}: cannot be started: {}; {}", words.front(), last_cause(), needs);
}

std::string source_file(const std::string& file) {
  if (const auto found = beside_program(file)) return *found;
  fail(ErrorKind::unsupported,
       "{} of the source is not beside this program; install mfbench, or run the program of a "
       "build folder",
       file);
}

void become(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
}

}  // namespace mf
