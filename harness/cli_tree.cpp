#include "harness/cli_tree.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/text.hpp"

namespace mf {
namespace {

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// "TEXT:{none,threads}": what a value may be.
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> found;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1) + ",") {
    if (c != ',') {
      word += c;
    } else if (!word.empty()) {
      found.push_back(std::exchange(word, {}));
    }
  }
  return found;
}

// By the words of the help, which is where a reader sees it as well.
ValueKind kind_of(const CliOption& option, const std::string& command) {
  if (!option.choices.empty()) return ValueKind::choice;
  const std::string& help = option.help;
  if (help.starts_with("JSON file")) return ValueKind::spec;
  if (option.positional == "algorithm") return ValueKind::algorithm;
  if (command == "data fetch" && option.positional == "name") return ValueKind::data_set;
  if (option.positional == "set") return ValueKind::data_set;
  if (has(help, "file") || option.positional == "path" || has(option.value, ".csv")) {
    return has(help, "folders") ? ValueKind::folder : ValueKind::file;
  }
  return has(help, "folder") ? ValueKind::folder : ValueKind::text;
}

// The type, its choices instead where it has some: CLI11 writes "TEXT:{a,b}".
std::string value_text(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{');
  return open == std::string::npos ? type : type.substr(open);
}

CliOption option_of(const CLI::Option& given, const std::string& command) {
  CliOption option;
  for (const auto& name : given.get_snames()) option.names.push_back("-" + name);
  for (const auto& name : given.get_lnames()) option.names.push_back("--" + name);
  if (option.names.empty()) option.positional = given.get_name(true);
  option.help = given.get_description();
  option.many = given.get_items_expected_max() > 1;
  if (given.get_expected_max() == 0) return option;  // a flag
  option.value = value_text(given);
  option.choices = choices_of(given.get_type_name());
  option.kind = kind_of(option, command);
  return option;
}

void add_commands(const CLI::App& app, const std::string& path, std::vector<CliCommand>& all) {
  CliCommand command{path, app.get_description(), {}};
  for (const auto* option : app.get_options()) command.options.push_back(option_of(*option, path));
  all.push_back(std::move(command));
  for (const auto* below : app.get_subcommands({})) {
    add_commands(*below, path + (path.empty() ? "" : " ") + below->get_name(), all);
  }
}

}  // namespace

std::vector<CliCommand> commands_of(const CLI::App& app) {
  std::vector<CliCommand> all;
  add_commands(app, "", all);
  return all;
}

}  // namespace mf
