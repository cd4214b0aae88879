// The command line: mfbench list | describe | validate | plan | run | compare | merge | data |
// predict | recommend | schema | doctor.
#pragma once

namespace mf {

// Exit codes: 0 done; 1 some cases ended in error, out of memory or a time limit; 2 command line or
// spec; 3 data; 4 input or output; 5 not possible on this machine or build; 6 memory; 7 the
// device; 70 not foreseen; 129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM.
int cli_main(int argc, char** argv);

}  // namespace mf
