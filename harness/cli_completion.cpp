#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "harness/cli_pages.hpp"
#include "harness/cli_tree.hpp"

namespace mf {
namespace {

std::vector<std::string> values_of(const CliOption& option, const CompletionWords& words) {
  if (option.kind == ValueKind::algorithm) return words.algorithms;
  if (option.kind == ValueKind::data_set) return words.data_sets;
  return option.choices;
}

std::vector<const CliOption*> positionals_of(const CliCommand& command) {
  std::vector<const CliOption*> found;
  for (const auto& option : command.options) {
    if (option.is_positional()) found.push_back(&option);
  }
  return found;
}

// Those right below a command, by their last word.
std::vector<std::string> names_below(const std::vector<CliCommand>& all, const std::string& path) {
  std::vector<std::string> found;
  const std::string before = path.empty() ? "" : path + " ";
  for (const auto& command : all) {
    if (command.path.empty() || !command.path.starts_with(before)) continue;
    const std::string rest = command.path.substr(before.size());
    if (!rest.empty() && rest.find(' ') == std::string::npos) found.push_back(rest);
  }
  return found;
}

// ---- bash --------------------------------------------------------------------------------------

std::string bash_value(const CliOption& option, const CompletionWords& words) {
  switch (option.kind) {
    case ValueKind::spec:
      return "_mfbench_specs";
    case ValueKind::file:
      return "_mfbench_files -f";
    case ValueKind::folder:
      return "_mfbench_files -d";
    case ValueKind::choice:
    case ValueKind::algorithm:
      return "_mfbench_words '" + join(values_of(option, words), " ") + "'";
    case ValueKind::data_set:
      return "_mfbench_words '" + join(values_of(option, words), " ") + "'; _mfbench_files -f";
    case ValueKind::none:
    case ValueKind::text:
      break;
  }
  return ":";  // only who types it knows it
}

std::string bash_case(const std::vector<CliCommand>& all, const CliCommand& command,
                      const CompletionWords& words) {
  std::string flags, takes;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) flags += (flags.empty() ? "" : " ") + name;
    if (option.value.empty() || option.is_positional()) continue;
    takes += fmt::format("      case $previous in {}) {}; return ;; esac\n",
                         join(option.names, "|"), bash_value(option, words));
  }
  std::string rest =
      fmt::format("      _mfbench_words '{}'\n", join(names_below(all, command.path), " "));
  if (const auto positionals = positionals_of(command); !positionals.empty()) {
    rest = "      case $at in\n";
    for (std::size_t i = 0; i < positionals.size(); ++i) {
      const bool last = i + 1 == positionals.size();
      rest += fmt::format("        {}) {} ;;\n",
                          last && positionals[i]->many ? "*" : fmt::format("{}", i),
                          bash_value(*positionals[i], words));
    }
    rest += "      esac\n";
  }
  return fmt::format(
      "    '{}')\n{}      if [[ $current == -* ]]; then _mfbench_words '{}'; return; fi\n{}      "
      ";;\n",
      command.path, takes, flags, rest);
}

constexpr const char* kBashHead =
    R"(# Completion of mfbench for bash; `mfbench completion bash` wrote it.

# Readline takes a colon for the end of a word: what stands before it is left out.
_mfbench_words() {
  local word
  for word in $1; do
    [[ $word == "$current"* ]] || continue
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then word=${word#"${current%:*}:"}; fi
    COMPREPLY+=("$word")
  done
}

_mfbench_files() {  # -f | -d
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$1" -- "$current")
}

_mfbench_specs() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do
    if [[ -d $name || $name == *.json ]]; then COMPREPLY+=("$name"); fi
  done < <(compgen -f -- "$current")
}

_mfbench() {
  local line=${COMP_LINE:0:COMP_POINT} words=() current previous command="" at=0 i skip=""
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[${#words[@]} - 1]}
  previous=${words[${#words[@]} - 2]}
  COMPREPLY=()
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    if [[ -n $skip ]]; then
      skip=""
      continue
    fi
)";

}  // namespace

// The words before the cursor say which command it is, and which of its positionals comes.
std::string bash_completion(const CLI::App& app, const CompletionWords& words) {
  const auto all = commands_of(app);
  std::string paths, with_value, cases;
  for (const auto& command : all) {
    if (!command.path.empty()) paths += (paths.empty() ? "" : "|") + ("'" + command.path + "'");
    for (const auto& option : command.options) {
      if (option.value.empty() || option.is_positional()) continue;
      for (const auto& name : option.names) {
        with_value += fmt::format("{}'{} {}'", with_value.empty() ? "" : "|", command.path, name);
      }
    }
    cases += bash_case(all, command, words);
  }
  return kBashHead +
         fmt::format(
             "    case \"$command ${{words[i]}}\" in\n      {}) skip=yes; continue ;;\n    esac\n",
             with_value) +
         fmt::format(
             "    case \"${{command:+$command }}${{words[i]}}\" in\n      {}) "
             "command=${{command:+$command }}${{words[i]}}; continue ;;\n    esac\n",
             paths) +
         "    [[ ${words[i]} == -* ]] || at=$((at + 1))\n  done\n  case $command in\n" + cases +
         "  esac\n}\n\ncomplete -F _mfbench mfbench\n";
}

// ---- zsh ---------------------------------------------------------------------------------------

namespace {

// Within '...' of _arguments: brackets and colons are its own.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const CliOption& option, const CompletionWords& words) {
  switch (option.kind) {
    case ValueKind::spec:
      return "_files -g \"*.json(-.)\"";
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::choice:
    case ValueKind::algorithm:
    case ValueKind::data_set: {
      std::vector<std::string> all;
      for (const auto& value : values_of(option, words)) all.push_back(zsh_text(value));
      return "(" + join(all, " ") + ")";
    }
    case ValueKind::none:
    case ValueKind::text:
      break;
  }
  return " ";
}

std::string zsh_arguments(const CliCommand& command, const CompletionWords& words) {
  std::string text;
  for (const auto& option : command.options) {
    const std::string help = zsh_text(option.help);
    if (option.is_positional()) {
      text += fmt::format(" \\\n    '{}:{}:{}'", option.many ? "*" : "",
                          zsh_text(option.positional), zsh_action(option, words));
      continue;
    }
    for (const auto& name : option.names) {
      text += fmt::format(" \\\n    '{}[{}]", name, help);
      if (!option.value.empty()) text += fmt::format(":value:{}", zsh_action(option, words));
      text += "'";
    }
  }
  return text;
}

std::string zsh_name(const std::string& path) {
  std::string name = "_mfbench";
  for (const char c : path.empty() ? "" : " " + path) name += c == ' ' ? '_' : c;
  return name;
}

// A function a command; one that has commands below it calls theirs.
std::string zsh_function(const std::vector<CliCommand>& all, const CliCommand& command,
                         const CompletionWords& words) {
  const auto below = names_below(all, command.path);
  std::string text = zsh_name(command.path) + "() {\n";
  if (below.empty()) {
    return text + "  _arguments -s" + zsh_arguments(command, words) + "\n}\n\n";
  }
  text += "  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C" +
          zsh_arguments(command, words) +
          " \\\n    '1: :->command' '*:: :->rest'\n  case $state in\n    command)\n"
          "      local -a commands=(\n";
  const std::string before = command.path.empty() ? "" : command.path + " ";
  for (const auto& other : all) {
    if (!other.path.starts_with(before) || other.path.size() <= before.size()) continue;
    const std::string name = other.path.substr(before.size());
    if (std::find(below.begin(), below.end(), name) == below.end()) continue;
    text += fmt::format("        '{}:{}'\n", name, zsh_text(other.help));
  }
  text +=
      "      )\n      _describe -t commands command commands ;;\n    rest)\n"
      "      case $line[1] in\n";
  for (const auto& name : below) {
    text += fmt::format("        {}) {} ;;\n", name, zsh_name(before + name));
  }
  return text + "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CLI::App& app, const CompletionWords& words) {
  const auto all = commands_of(app);
  std::string text =
      "#compdef mfbench\n# Completion of mfbench for zsh; `mfbench completion zsh` wrote it.\n\n";
  for (const auto& command : all) text += zsh_function(all, command, words);
  return text +
         "if [[ $funcstack[1] == _mfbench ]]; then\n  _mfbench \"$@\"\nelse\n"
         "  compdef _mfbench mfbench\nfi\n";
}

}  // namespace mf
