#include "harness/experiment/profile.hpp"

#include <fmt/core.h>

namespace mf {

std::string ProfileWindow::done() const {
  return fmt::format("profiled: {} warm-up and {} recorded epochs done", warmup, epochs);
}

Case profiled(Case item, const ProfileWindow& window) {
  StopSpec stop;
  stop.epochs = window.warmup + window.epochs;
  stop.divergence = item.stop.divergence;
  item.stop = stop;
  item.evaluate.every = stop.epochs;
  return item;
}

}  // namespace mf
