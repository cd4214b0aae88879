// The commands and options of a command line, as pages about it need them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
class Validator;
}  // namespace CLI

namespace mf {

// What a value is, by which shells complete it.
enum class ValueKind { none, text, choice, spec, file, folder, algorithm, data_set };

// Declares it with an option: `add_option(...)->check(takes(ValueKind::folder))` accepts any value.
// An option that declares nothing takes one of its choices, or text.
CLI::Validator takes(ValueKind kind);

struct CliOption {
  std::vector<std::string> names;  // "-k", "--out"; none: a positional
  std::string positional;          // its name
  std::string help;
  std::string value;  // as the help has it: "DIR", "{none,threads}"; empty: a flag
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;
  bool many = false;  // takes several values

  bool is_positional() const { return names.empty(); }
};

struct CliCommand {
  std::string path;  // "run", "data fetch"; empty: the program itself
  std::string help;
  std::vector<CliOption> options;
};

// The program first, then its commands in their order, those below them after them.
std::vector<CliCommand> commands_of(const CLI::App& app);

// Helps that are the same by every version of CLI11: 2.3 writes defaults as "TEXT=none", 2.4 as
// "TEXT [none] "; this, as 2.3 does. For an app before its commands are added, which take it over.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace mf
