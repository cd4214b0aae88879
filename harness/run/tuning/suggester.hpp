// Points of a search that another sampler suggests: Optuna, in a process of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/peer/places.hpp"
#include "algorithms/peer/supervised.hpp"
#include "harness/experiment/spec.hpp"

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
  // `log`: where it prints.
  Suggester(const StudyPlan& plan, const std::string& log);
  Suggester(const Suggester&) = delete;
  Suggester& operator=(const Suggester&) = delete;

  // The point after `tried`: the same for the same search and scores, whatever was asked before.
  // Throws Error(io).
  Json next(const std::vector<TriedPoint>& tried);

 private:
  Json ask(const Json& message);
  Json suggested(const Json& answer) const;

  const StudyPlan& plan_;
  const std::string log_;
  const peer::Scratch scratch_{0};
  peer::Supervised process_;
};

}  // namespace mf
