// solve cg, the post's least_squares: the Gram matrix by cuBLAS, its diagonal, then a kernel that
// goes through all rows.
#include <algorithm>

#include "algorithms/core/cuda/ratings/upload.hpp"
#include "algorithms/ials/device_gram.hpp"
#include "algorithms/ials/device_side.hpp"
#include "algorithms/ials/post/least_squares.hpp"
#include "algorithms/ials/post/steps.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

class AppliedSteps : public HalfSteps {
 public:
  AppliedSteps(const IalsSettings& settings, DevicePairs& pairs, const Model& initial,
               Context& context)
      : settings_(settings), stream_(context.stream) {
    items_ = DeviceSide(pairs.items(), pairs.alpha(), stream_);
    pairs.release_items();
    users_ = DeviceSide(pairs.users(), pairs.alpha(), stream_);
    pairs.release_users();
    cuda::Uploader uploader(*context.team, stream_);
    users_.start(initial, cuda::RowsOf::users, uploader);
    items_.start(initial, cuda::RowsOf::items, uploader);
    gram_ = DeviceGram(settings.common.factors, stream_);
    form_gram(Which::users);  // loads the library's kernel
  }

  bool half_step(Which which, Context& context) override {
    if (context.stop_requested && context.stop_requested()) return false;
    {
      const PhaseScope phase(context.phases, "gram");
      form_gram(which);
    }
    const PhaseScope phase(context.phases, "solve");
    DeviceSide& now = side(which);
    LeastSquaresArgs args;
    args.factors = settings_.common.factors;
    args.stride = stride();
    args.rows = now.rows;
    args.x = now.factors.data();
    args.y = side(other_of(which)).factors.data();
    args.gram = gram_.data();
    args.offsets = now.offsets.data();
    args.others = now.others.data();
    args.weights = now.weights.data();
    args.cg_steps = settings_.common.cg.steps;
    launch_least_squares(args, settings_.variant, stream_);
    return true;
  }

  float* factors(Which which) override { return side(which).factors.data(); }
  std::int64_t stride() const override {
    return row_stride(settings_.common.factors, sizeof(float));
  }

  Json facts() const override {
    const auto of = [&](const DeviceSide& side) {
      return Json{{"thread_blocks", std::min(settings_.variant.blocks, side.rows)},
                  {"empty_rows", side.empty_rows}};
    };
    return {{"x", of(users_)}, {"y", of(items_)}};
  }

 private:
  DeviceSide& side(Which which) { return which == Which::users ? users_ : items_; }

  void form_gram(Which which) {
    const DeviceSide& from = side(other_of(which));
    gram_.compute(from.factors.data(), stride(), from.rows,
                  static_cast<float>(settings_.common.loss.reg));
  }

  IalsSettings settings_;
  cudaStream_t stream_;
  DeviceSide users_, items_;
  DeviceGram gram_;
};

}  // namespace

std::unique_ptr<HalfSteps> make_applied_steps(const IalsSettings& settings, DevicePairs& pairs,
                                              const Model& initial, Context& context) {
  return std::make_unique<AppliedSteps>(settings, pairs, initial, context);
}

}  // namespace mf::ials
