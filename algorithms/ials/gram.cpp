#include "algorithms/ials/gram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mf::ials {
namespace {

constexpr std::int64_t kLeastRows = 1024;  // of a part
constexpr std::int64_t kMostParts = 64;
constexpr std::int64_t kPanelRows = 64;

}  // namespace

void Gram::compute(const als::cpu::FactorRows& rows, std::int64_t count,
                   const als::cpu::FormationKernels& kernels, ThreadTeam& team,
                   View<const float> weights) {
  const std::int64_t stride = stride_ = rows.stride;
  const auto cuts = std::clamp<std::int64_t>(count / kLeastRows, 1, kMostParts);
  const std::int64_t longest = (count + cuts - 1) / cuts;
  gram_.assign(stride * stride, 0.0F);
  if (count == 0) return;
  if (std::ssize(in_order_) < longest) {
    in_order_.resize(longest);
    std::iota(in_order_.begin(), in_order_.end(), 0);
    zeros_.assign(longest, 0.0F);
  }
  roots_.resize(weights.size());
  std::transform(weights.begin(), weights.end(), roots_.begin(),
                 [](float c) { return std::sqrt(c); });
  const std::int64_t floats = stride * stride;
  sums_.resize(cuts * floats);
  team.for_each(cuts, 1, [&](std::int64_t part) {
    AlignedVector<float> panel(kPanelRows * stride), b(stride);
    const std::int64_t begin = count * part / cuts;
    const std::int64_t end = count * (part + 1) / cuts;
    kernels.form({rows.data + begin * stride, stride, rows.factors},
                 {in_order_.data(), zeros_.data(), end - begin,
                  roots_.empty() ? nullptr : roots_.data() + begin},
                 {sums_.data() + part * floats, b.data(), panel.data(), kPanelRows});
  });
  add_parts(cuts, rows.factors, team);
}

// The upper half of the parts (element (i, j) at [j * stride + i], i <= j) onto both of the sum.
void Gram::add_parts(std::int64_t cuts, std::int64_t factors, ThreadTeam& team) {
  team.for_chunks(factors, 8, [&](std::int64_t begin, std::int64_t end) {
    AlignedVector<double> column(factors);
    for (std::int64_t j = begin; j < end; ++j) {
      std::fill_n(column.begin(), j + 1, 0.0);
      for (std::int64_t part = 0; part < cuts; ++part) {
        const float* from = sums_.data() + (part * stride_ + j) * stride_;
        for (std::int64_t i = 0; i <= j; ++i) column[i] += from[i];
      }
      for (std::int64_t i = 0; i <= j; ++i) {
        gram_[j * stride_ + i] = gram_[i * stride_ + j] = static_cast<float>(column[i]);
      }
    }
  });
}

}  // namespace mf::ials
