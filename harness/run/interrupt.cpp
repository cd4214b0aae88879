#include "harness/run/interrupt.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace mf {
namespace {

constexpr int kSignals = 256;  // more than there are: a message is level * kSignals + signal

volatile std::sig_atomic_t own_signals = 0;  // levels: of the signals that came to this process
volatile std::sig_atomic_t told = 0;         // and to the one that started it
volatile std::sig_atomic_t last_signal = 0;

extern "C" void on_interrupt(int signal) {
  own_signals = own_signals + 1;
  last_signal = signal;
  if (own_signals >= 2 || told >= 2) std::signal(signal, SIG_DFL);
}

extern "C" void on_told(int, siginfo_t* info, void*) {
  const int word = info->si_value.sival_int;
  if (word / kSignals <= told) return;
  told = word / kSignals;
  if (told > own_signals) last_signal = word % kSignals;
  if (told >= 2) std::signal(SIGTERM, SIG_DFL);  // as which the other's end comes
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a full pipe is an error of the write, not the end of a run
}

int interrupt_level() { return own_signals > told ? own_signals : told; }
int interrupt_signal() { return last_signal; }

sigset_t told_interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  return set;
}

void tell_interrupt(pid_t process) {
  sigval value{};
  value.sival_int = interrupt_level() * kSignals + last_signal;
  ::sigqueue(process, SIGRTMIN, value);
}

void hear_interrupts() {
  struct sigaction action {};
  action.sa_sigaction = on_told;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGRTMIN, &action, nullptr);
  const sigset_t blocked = told_interrupts();
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
}

void end_with_starter(int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  pollfd held{pipe, 0, 0};  // an end that came before is not signalled
  if (::poll(&held, 1, 0) > 0 && (held.revents & POLLERR) != 0) std::raise(SIGTERM);
}

}  // namespace mf
