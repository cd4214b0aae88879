// The draws of `bpmf` on the device: the systems of a side's rows are formed by als_fused's kernel,
// which leaves the sums of each in a slot, batch by batch, and drawn from there (draw.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "algorithms/als/device_center.hpp"
#include "algorithms/bpmf/draw.hpp"
#include "algorithms/bpmf/noise.hpp"
#include "algorithms/bpmf/prior.hpp"
#include "algorithms/core/algorithm.hpp"
#include "algorithms/core/cuda/initial_rows.hpp"
#include "algorithms/core/cuda/ratings/device_ratings.hpp"

struct cublasContext;

namespace mf::bpmf {

class DrawSteps {
 public:
  DrawSteps() = default;
  // Makes both sides of R and the first rows; `squares` is the sum of squared ratings, their center
  // removed, if alpha is drawn. Throws Error(data) for ratings that are not finite or too large for
  // the words of fp16.
  DrawSteps(const Settings& settings, cuda::DeviceRatings& ratings,
            const als::DeviceResidual& center, double squares, const Model& initial,
            Context& context);

  // The prior of a side's rows, for which it waits, then the rows, which are queued.
  void draw(bool users, std::int64_t sweep, Context& context);
  // If alpha is drawn: after the items. Waits.
  void draw_precision(std::int64_t sweep, Context& context);

  std::int64_t stride() const;
  const float* users() const { return users_.rows.data(); }
  const float* items() const { return items_.rows.data(); }

 private:
  struct Side {
    cuda::DeviceBuffer<als::FusedEntry> entries;
    // For the parts of split rows, whose slots come first; then whole rows, batch by batch.
    cuda::DeviceBuffer<als::FusedTask> parts, split, whole;
    std::int64_t slots = 0;  // of the parts
    cuda::DeviceBuffer<float> rows;
    std::int64_t n_rows = 0;
    cuda::DeviceBuffer<__half> high, low;
    als::NarrowRows narrow() { return {high.data(), low.data()}; }
  };
  struct DestroyBlas {
    void operator()(cublasContext* handle) const;
  };

  void make_side(Side& side, const cuda::RatingsOfRows& rows, cuda::RowsOf which,
                 const als::DeviceResidual& center, const Model& initial, Context& context) const;
  std::int64_t slots_of(const Side& side) const;
  void cut(Side& side, const cuda::RatingsOfRows& rows, cudaStream_t stream) const;
  void draw_prior(const Side& side, std::uint64_t key, cudaStream_t stream);
  void draw_rows(Side& to, Side& from, std::uint64_t key, float* residuals, cudaStream_t stream);

  Settings settings_;
  als::FusedRule rule_;
  SlotLayout layout_;
  std::int64_t batch_ = 0;  // whole rows that are formed at a time
  Side users_, items_;
  std::uint64_t seed_ = 0;
  double nnz_ = 0;
  double alpha_ = 0;
  double squares_ = 0;  // of the ratings
  cuda::DeviceBuffer<float> slots_, gram_, prior_, residuals_;
  cuda::DeviceBuffer<std::uint32_t> next_, arrived_;
  cuda::PinnedBuffer<float> host_gram_, host_prior_;
  std::unique_ptr<cublasContext, DestroyBlas> blas_;
};

}  // namespace mf::bpmf
