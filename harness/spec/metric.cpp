#include "harness/spec/metric.hpp"

#include <fmt/core.h>

namespace mf {

std::string format_metric(Metric metric, double value) {
  return metric == Metric::objective ? fmt::format("{:.6g}", value) : fmt::format("{:.4f}", value);
}

}  // namespace mf
