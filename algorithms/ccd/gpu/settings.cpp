#include "algorithms/ccd/gpu/settings.hpp"

#include <fmt/core.h>

#include "algorithms/ccd/layout.hpp"

namespace mf::ccd {

std::optional<std::string> device_why_unsupported(const Params&, const ProblemShape& shape) {
  // With kQuad - 1 of padding a rating at worst.
  if (shape.nnz <= kMostUnits) return std::nullopt;
  return fmt::format("{} ratings, at most {} can be numbered", shape.nnz, kMostUnits);
}

}  // namespace mf::ccd
