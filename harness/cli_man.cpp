#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "harness/cli_pages.hpp"
#include "harness/cli_tree.hpp"

namespace mf {
namespace {

// Roff takes a backslash for a command, a hyphen for one of typography, and a line that begins with
// a point or an apostrophe for a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string entry(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", term, roff(text));
}

std::string term_of(const CliOption& option) {
  std::string term;
  for (const auto& name : option.names) {
    term += (term.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  if (option.is_positional()) return "\\fI" + roff(option.positional) + "\\fR";
  if (!option.value.empty()) term += " \\fI" + roff(option.value) + "\\fR";
  return term;
}

// "mfbench run spec [options]"
std::string synopsis(const CliCommand& command) {
  std::string line = "\\fBmfbench " + command.path + "\\fR";
  for (const auto& option : command.options) {
    if (!option.is_positional()) continue;
    line += " \\fI" + roff(option.positional) + "\\fR" + (option.many ? " ..." : "");
  }
  return line + " [options]";
}

std::string section_of(const CliCommand& command) {
  std::string text = ".SS " + roff(command.path) + "\n" + synopsis(command) + "\n.PP\n" +
                     roff(command.help) + ".\n";
  for (const auto& option : command.options) text += entry(term_of(option), option.help);
  return text;
}

constexpr std::pair<const char*, const char*> kCodes[] = {
    {"0", "done"},
    {"1", "some cases ended in error, out of memory or a time limit; compare: --fail-on found one"},
    {"2", "the command line or a spec"},
    {"3", "data"},
    {"4", "input or output"},
    {"5", "not possible on this machine or with this build"},
    {"6", "memory"},
    {"7", "the device"},
    {"70", "not foreseen"},
    {"129, 130, 143", "ended by SIGHUP, Ctrl-C, SIGTERM"}};

constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"MFBENCH_DATA", "folders of real ratings, with colons between them"},
    {"MFBENCH_CACHE", "folder of binary copies of ratings"},
    {"MFBENCH_UNPACK", "any: also small files that unpack to very much"},
    {"MFBENCH_PEERS", "folder of other people's libraries, as ./dev peers installs them"},
    {"MFBENCH_PEER_SCRIPTS", "folder of their adapters"},
    {"MFBENCH_PROGRAMS", "folders whose programs specs may run as peers, with colons between them"},
    {"MFBENCH_SPARK_MASTER", "the Spark cluster of peers with \"cluster\": true"},
    {"MFBENCH_RANK_PATIENCE", "seconds for which ranks wait for one another"},
    {"MFBENCH_NCCL", "the library of NCCL, for cases on several devices"}};

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  const auto commands = commands_of(app);
  std::string text = ".TH MFBENCH 1 \"\" \"mfbench " + roff(version) + "\" \"User Commands\"\n";
  text += ".SH NAME\nmfbench \\- races matrix\\-factorization algorithms\n";
  text += ".SH SYNOPSIS\n\\fBmfbench\\fR \\fICOMMAND\\fR [options]\n";
  text +=
      ".SH DESCRIPTION\nA spec in JSON names data sets, algorithms, parameters and seeds. "
      "mfbench runs every combination, records its error against time, and keeps each run in "
      "a file of its own.\n";
  text += ".SH OPTIONS\n";
  for (const auto& option : commands.front().options) {
    text += entry(term_of(option), option.help);
  }
  text += ".SH COMMANDS\n";
  for (const auto& command : commands) {
    if (!command.path.empty()) text += section_of(command);
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, why] : kCodes) text += entry(std::string("\\fB") + code + "\\fR", why);
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, what] : kEnvironment) {
    text += entry(std::string("\\fB") + name + "\\fR", what);
  }
  text += ".SH FILES\n";
  text += entry("\\fIresults/runs/NAME\\fR", "results of the spec of that name");
  text += entry("\\fIshare/mfbench/experiments\\fR",
                "specs that came with mfbench, which commands "
                "find by the name that begins so: experiments/quickstart.json");
  text += entry("\\fIshare/doc/mfbench\\fR", "documents; spec.md has every key of a spec");
  return text;
}

}  // namespace mf
