#include "algorithms/ccd/gpu/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "algorithms/ccd/gpu/pieces.hpp"
#include "algorithms/ccd/layout.hpp"
#include "algorithms/core/device_need.hpp"

namespace mf::ccd {
namespace {

// Blocks, and users or items of a tile, that no device has more, and fewer, of.
constexpr double kMostBlocks = 1024;
constexpr double kLeastTile = 4096;
constexpr double kMostWarps = 32;  // of a block

// Segments, and with them padding, are at most nnz / kLeastSegment where there are tiles, else the
// rows, and no tasks begin but with segments and with ranges, which begin with words; so whatever a
// device's shared memory, this is enough. Indices are counted as wide.
struct SideBytes {
  double ratings;     // with their tasks
  double vectors;     // factors, sums
  double laying_out;  // beside the ratings: where segments begin
};

SideBytes side_bytes(double rows, double others, double nnz, double factors) {
  const double segments = std::max(std::min(rows, nnz), nnz / kLeastSegment);
  const double ratings = nnz + (kQuad - 1) * segments;
  const double words = ratings / (kQuad * kWordQuads) + 2;
  const double ranges = kMostWarps * (kMostBlocks + others / kLeastTile);
  const double tasks = segments + std::min(words, ranges);
  return {ratings * 8 + words * 8 + tasks * sizeof(StreamTask) + 4 * rows,
          8 * tasks + (rows + 32) * (4 * factors + 4 * (factors + 3) + 12),
          8 * std::max(rows, nnz / kLeastSegment)};
}

}  // namespace

std::optional<std::string> device_why_unsupported(const Params&, const ProblemShape& shape) {
  // With kQuad - 1 of padding a rating at worst.
  if (shape.nnz <= kMostUnits) return std::nullopt;
  return fmt::format("{} ratings, at most {} can be numbered", shape.nnz, kMostUnits);
}

MemoryNeed device_memory_need(const Params& params, const ProblemShape& shape) {
  const auto nnz = static_cast<double>(shape.nnz);
  const auto users = static_cast<double>(shape.n_users);
  const auto items = static_cast<double>(shape.n_items);
  const auto factors = static_cast<double>(params.integer("factors"));
  const SideBytes of_users = side_bytes(users, items, nnz, factors);
  const SideBytes of_items = side_bytes(items, users, nnz, factors);
  // The items' side is made beside R by rows and by columns, then the users' beside R by rows.
  const double items_made = of_items.ratings + of_items.laying_out;
  const double sides = of_users.ratings + of_items.ratings;
  const double users_made = sides + of_users.laying_out;
  const double trained = sides + of_users.vectors + of_items.vectors;
  const double rows = row_ratings_bytes(shape);
  const double both = rows + column_ratings_bytes(shape);
  return {pinned_bytes(shape),
          {std::max({both + items_made, rows + users_made, making_columns_bytes(shape)}), trained},
          BesideRatings{{std::max(items_made, users_made), trained}, true}};
}

}  // namespace mf::ccd
