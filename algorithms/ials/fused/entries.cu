// 8 bytes of a pair read and 8 written, a division in fp64 each.
#include "algorithms/ials/fused/entries.hpp"

#include "algorithms/core/cuda/ratings/walk_rows.cuh"

namespace mf::ials {
namespace {

struct WeightedEntries : cuda::RowVisitor {
  double alpha;
  Weighting weighting;
  als::FusedEntry* entries;

  __device__ void operator()(std::int64_t, std::int64_t i, RowRating rating) {
    const double weight = pair_weight(rating.value, alpha);
    entries[i] = als::fused_entry(rating.other, static_cast<float>(weighting.entry(weight)));
  }
};

}  // namespace

void make_entries(const cuda::RatingsOfRows& rows, double alpha, const Weighting& weighting,
                  als::FusedEntry* entries, cudaStream_t stream) {
  cuda::walk_ratings(rows, WeightedEntries{{}, alpha, weighting, entries}, "ials_fused entries",
                     stream);
}

}  // namespace mf::ials
