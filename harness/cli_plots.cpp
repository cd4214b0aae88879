#include <CLI/CLI.hpp>

#include "harness/commands.hpp"
#include "harness/race/plots.hpp"

namespace mf {
namespace {

// All words after it are for the module, --help too.
void add(CLI::App& app, const char* name, const char* help, const char* module) {
  auto* command = app.add_subcommand(name, help)->prefix_command();
  command->set_help_flag();
  command->callback([command, module] { become_plots(module, command->remaining()); });
}

}  // namespace

void add_plot_commands(CLI::App& app) {
  add(app, "plot", "draw figures of results, or print a table (plot table)", kFigures);
  add(app, "report", "make pages for a browser from results", kReport);
}

}  // namespace mf
