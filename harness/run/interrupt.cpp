#include "harness/run/interrupt.hpp"

#include <csignal>

namespace mf {
namespace {

volatile std::sig_atomic_t level = 0;
volatile std::sig_atomic_t last_signal = 0;

extern "C" void on_interrupt(int signal) {
  level = level + 1;
  last_signal = signal;
  if (level >= 2) std::signal(signal, SIG_DFL);
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
  // A full pipe or file limit is an error of the write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupt_level() { return level; }
int interrupt_signal() { return last_signal; }

}  // namespace mf
