#include "harness/cli_tree.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

#include "base/text.hpp"

namespace mf {
namespace {

constexpr std::array kDeclared = {ValueKind::spec, ValueKind::file, ValueKind::folder,
                                  ValueKind::algorithm, ValueKind::data_set};

std::string name_of(ValueKind kind) { return fmt::format("takes {}", static_cast<int>(kind)); }

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

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string newer = " [" + option->get_default_str() + "] ";
    const auto at = text.find(newer);
    if (option->get_default_str().empty() || at == std::string::npos) return text;
    return text.replace(at, newer.size(), "=" + option->get_default_str());
  }
};

// CLI11 throws where there is none of the name.
bool is_declared(const CLI::Option& given, ValueKind kind) {
  try {
    // It has no const access.
    const_cast<CLI::Option&>(given).get_validator(name_of(kind));
    return true;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

ValueKind kind_of(const CLI::Option& given, const CliOption& option) {
  if (!option.choices.empty()) return ValueKind::choice;
  for (const ValueKind kind : kDeclared) {
    if (is_declared(given, kind)) return kind;
  }
  return ValueKind::text;
}

// The type, its choices instead where it has some: CLI11 writes "TEXT:{a,b}".
std::string value_text(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{');
  return open == std::string::npos ? type : type.substr(open);
}

CliOption option_of(const CLI::Option& given) {
  CliOption option;
  for (const auto& name : given.get_snames()) option.names.push_back("-" + name);
  for (const auto& name : given.get_lnames()) option.names.push_back("--" + name);
  if (option.names.empty()) option.positional = given.get_name(true);
  option.help = given.get_description();
  option.many = given.get_items_expected_max() > 1;
  if (given.get_expected_max() == 0) return option;  // a flag
  option.value = value_text(given);
  option.choices = choices_of(given.get_type_name());
  option.kind = kind_of(given, option);
  return option;
}

void add_commands(const CLI::App& app, const std::string& path, std::vector<CliCommand>& all) {
  CliCommand command{path, app.get_description(), {}};
  for (const auto* option : app.get_options()) command.options.push_back(option_of(*option));
  all.push_back(std::move(command));
  for (const auto* below : app.get_subcommands({})) {
    add_commands(*below, path + (path.empty() ? "" : " ") + below->get_name(), all);
  }
}

}  // namespace

CLI::Validator takes(ValueKind kind) {
  return CLI::Validator([](const std::string&) { return std::string(); }, "", name_of(kind));
}

std::vector<CliCommand> commands_of(const CLI::App& app) {
  std::vector<CliCommand> all;
  add_commands(app, "", all);
  return all;
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace mf
