// Ctrl-C (SIGINT), SIGTERM and SIGHUP: the first ends the run after the running epoch, the second
// gives that epoch up, the third ends the program at once.
#pragma once

namespace mf {

inline constexpr int kBySignal = 128;  // and its number: the exit code of a run that one ended

// SIGHUP stays ignored where the caller ignores it (nohup).
void install_interrupt_handler();
int interrupt_level();
int interrupt_signal();  // the last that came; 0: none

}  // namespace mf
