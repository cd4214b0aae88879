// The commands below `mfbench data`.
#pragma once

namespace CLI {
class App;
}

namespace mf {

void add_data_commands(CLI::App& app);

}  // namespace mf
