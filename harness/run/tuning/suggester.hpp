// Points of a search that somebody else's sampler suggests: Optuna, in a process of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/spec/spec.hpp"

namespace mf {

// "optuna is not installed: ./dev peers optuna does it ...", or nothing.
std::optional<std::string> why_no_suggester();

// A point that was tried; the score of one that failed is nothing.
struct TriedPoint {
  Json values;
  std::optional<double> score;
};

class Suggester {
 public:
  // `log`: where it prints; the file goes with the suggester where nothing was printed.
  Suggester(const StudyPlan& plan, std::string log);
  ~Suggester();
  Suggester(const Suggester&) = delete;
  Suggester& operator=(const Suggester&) = delete;

  // The point after `tried`: the same for the same search and scores, whatever was asked before.
  // Throws Error(io).
  Json next(const std::vector<TriedPoint>& tried);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mf
