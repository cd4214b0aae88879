// The ruler: an "algorithm" whose epochs take a known time and whose predictions are known, so that
// clocks, traces, stopping rules and statistics of the harness can be tested against the truth.
//
// It predicts mu + offset * decay^e for every pair, so on a test set with mean m and standard
// deviation s:  RMSE(e)^2 = s^2 + (m - mu - offset * decay^e)^2.
#include <chrono>
#include <cmath>
#include <thread>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"

namespace mf {
namespace {

void sleep_ms(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

class Ruler : public Algorithm {
 public:
  explicit Ruler(const Params& params)
      : sleep_ms_(params.number("sleep_ms")),
        prepare_ms_(params.number("prepare_ms")),
        offset_(params.number("offset")),
        decay_(params.number("decay")),
        fail_at_(params.integer("fail_at")) {}

  void prepare(const Ratings& train, const Model& initial, Context& context) override {
    nnz_ = train.nnz();
    model_ = initial;
    std::fill(model_.p.begin(), model_.p.end(), 0.0F);
    std::fill(model_.q.begin(), model_.q.end(), 0.0F);
    mean_ = initial.mean;
    set_epoch(0);
    sleep_ms(prepare_ms_ / 2);
    const PhaseScope transfer(context.phases, "transfer");
    sleep_ms(prepare_ms_ / 2);
  }

  std::int64_t run_epoch(const EpochArgs& args, Context&) override {
    if (args.epoch == fail_at_)
      fail(ErrorKind::unsupported, "the ruler fails in epoch {}", fail_at_);
    sleep_ms(sleep_ms_);
    set_epoch(args.epoch);
    return nnz_;
  }

  FactorView factors() override { return model_.view(); }

  Work work_per_epoch() const override {
    return {static_cast<double>(nnz_), 12.0 * static_cast<double>(nnz_), static_cast<double>(nnz_)};
  }

 private:
  void set_epoch(std::int64_t epoch) {
    model_.mean = mean_ + offset_ * std::pow(decay_, static_cast<double>(epoch));
  }

  double sleep_ms_, prepare_ms_, offset_, decay_;
  std::int64_t fail_at_;
  std::int64_t nnz_ = 0;
  double mean_ = 0;
  Model model_;
};

const RegisterFactory registered("ruler", [](const Params& params) {
  return std::make_unique<Ruler>(params);
});

}  // namespace
}  // namespace mf
