// Ctrl-C (SIGINT), SIGTERM and SIGHUP: the first ends the run after the running epoch, the second
// gives that epoch up, the third ends the program at once.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace mf {

inline constexpr int kBySignal = 128;  // and its number: the exit code of a run that one ended

// SIGHUP stays ignored if the caller ignores it (nohup).
void install_interrupt_handler();
int interrupt_level();
int interrupt_signal();  // the last that came; 0: none

// A process that another started for one case is told of that one's signals. It takes the higher of
// both levels, so a signal may come to one (kill, a batch system) or to both (a terminal). It
// starts with told_interrupts() blocked, so that no message is lost.
sigset_t told_interrupts();
void tell_interrupt(pid_t process);

// In such a process.
void hear_interrupts();

// In such a process, first of all: SIGTERM comes with the end of the one that started it, also if
// that came before; `pipe` is a writing end whose other end only the starter has.
void end_with_starter(int pipe);

}  // namespace mf
