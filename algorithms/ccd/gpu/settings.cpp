#include "algorithms/ccd/gpu/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "algorithms/ccd/gpu/pieces.hpp"
#include "algorithms/core/pinned.hpp"

namespace mf::ccd {
namespace {

constexpr std::int64_t kUnit = 4;
constexpr double kTaskRatings = 1024;

// Segments, and with them padding and tasks, are at most nnz / kLeastSegment where there are tiles,
// else the rows; so whatever a device's shared memory, this is enough. Indices are counted as wide.
double device_side(double rows, double nnz, double factors) {
  const double segments = std::max(std::min(rows, nnz), nnz / kLeastSegment);
  const double tasks = segments + nnz / kTaskRatings;
  const double ratings = nnz + (kUnit - 1) * segments;
  return ratings * 8 + tasks * (sizeof(Task) + 8) +
         (rows + 32) * (4 * factors + 4 * (factors + 3) + 16);
}

}  // namespace

std::optional<std::string> device_why_unsupported(const Params&, const ProblemShape& shape) {
  // With kUnit - 1 of padding a rating at worst.
  if (shape.nnz <= kMostUnits) return std::nullopt;
  return fmt::format("{} ratings, at most {} can be numbered", shape.nnz, kMostUnits);
}

MemoryNeed device_memory_need(const Params& params, const ProblemShape& shape) {
  const auto nnz = static_cast<double>(shape.nnz);
  const auto users = static_cast<double>(shape.n_users);
  const auto items = static_cast<double>(shape.n_items);
  const auto factors = static_cast<double>(params.integer("factors"));
  // The host: the columns of R, tasks, where segments begin, a copy of P.
  const double tasks = 2 * (users + items + 2 * nnz / kLeastSegment) * sizeof(Task);
  const double host = nnz * 8 + tasks + 4 * users * factors + kPinnedBytes;
  return {host, device_side(users, nnz, factors) + device_side(items, nnz, factors)};
}

}  // namespace mf::ccd
