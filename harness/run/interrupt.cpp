#include "harness/run/interrupt.hpp"

#include <sys/prctl.h>
#include <unistd.h>

namespace mf {
namespace {

constexpr int kSignals = 256;  // more than there are: what is told is level * kSignals + signal

volatile std::sig_atomic_t level = 0;
volatile std::sig_atomic_t last_signal = 0;

extern "C" void on_interrupt(int signal) {
  level = level + 1;
  last_signal = signal;
  if (level >= 2) std::signal(signal, SIG_DFL);
}

extern "C" void on_told(int, siginfo_t* info, void*) {
  const int told = info->si_value.sival_int;
  if (told / kSignals <= level) return;
  level = told / kSignals;
  last_signal = told % kSignals;
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

int interrupt_level() { return level; }
int interrupt_signal() { return last_signal; }

sigset_t told_interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  return set;
}

void tell_interrupt(pid_t process) {
  sigval value{};
  value.sival_int = level * kSignals + last_signal;
  ::sigqueue(process, SIGRTMIN, value);
}

void hear_interrupts() {
  struct sigaction action {};
  action.sa_sigaction = on_told;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGRTMIN, &action, nullptr);
  const sigset_t told = told_interrupts();
  sigprocmask(SIG_UNBLOCK, &told, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace mf
