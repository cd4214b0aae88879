#include "algorithms/ials/fused/launch.hpp"

#include <iterator>
#include <type_traits>
#include <utility>

#include "algorithms/ials/fused/tiles.hpp"

namespace mf::ials {
namespace {

template <bool TwoWords, std::size_t... I>
void launch_weighted(const als::FusedRule& rule, const als::FusedSide& side, cudaStream_t stream,
                     std::index_sequence<I...>) {
  const int tiles = kernel_tiles(false, rule.factors);
  const auto launch = [&](auto count) {
    if (tiles == count) als::launch_weighted_tiles<count, TwoWords>(rule, side, stream);
  };
  (launch(std::integral_constant<int, kWeightedTileCounts[I]>()), ...);
}

}  // namespace

void launch_half_step(bool uniform, als::FusedPrecision precision, const als::FusedRule& rule,
                      const als::FusedSide& side, cudaStream_t stream) {
  if (uniform) return als::launch_fused(precision, rule, side, stream);
  const auto counts = std::make_index_sequence<std::size(kWeightedTileCounts)>();
  precision == als::FusedPrecision::fp16 ? launch_weighted<false>(rule, side, stream, counts)
                                         : launch_weighted<true>(rule, side, stream, counts);
}

}  // namespace mf::ials
