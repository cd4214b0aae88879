// What is made of the command line itself, so that it cannot say anything else: the manual page and
// the completion of shells.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mf {

// What words complete to that the command line cannot know.
struct CompletionWords {
  std::vector<std::string> algorithms;
  std::vector<std::string> data_sets;  // of the catalog
};

// For man(1), in roff.
std::string man_page(const CLI::App& app, const std::string& version);

// A script that defines the completion of `mfbench`: `source` it, or put it where the shell looks.
std::string bash_completion(const CLI::App& app, const CompletionWords& words);
std::string zsh_completion(const CLI::App& app, const CompletionWords& words);

}  // namespace mf
