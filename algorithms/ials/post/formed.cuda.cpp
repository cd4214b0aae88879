// solve hermitian, cuMF_ALS's section 5.6: A_u = G + l I + sum w y y^T in register tiles, which
// start from the regularized Gram matrix, b_u = sum (1 + w) y, then a batched solver. All of it is
// als's, with weights.
#include "algorithms/als/cumf/steps.hpp"
#include "algorithms/ials/device_gram.hpp"
#include "algorithms/ials/post/steps.hpp"
#include "base/json/json.hpp"

namespace mf::ials {
namespace {

class FormedSteps : public HalfSteps {
 public:
  FormedSteps(const IalsSettings& settings, DevicePairs& pairs, const Model& initial,
              Context& context)
      : reg_(static_cast<float>(settings.common.loss.reg)),
        rows_{initial.n_users, initial.n_items},
        gram_(settings.common.factors, context.stream),
        steps_(als_settings_of(settings), split_sides(pairs, context.stream), initial, context) {
    static_assert(als::a_pitch(als::AStorage::fp32, 5) == row_stride(5, sizeof(float)));
    steps_.set_weighted(gram_.data());
    form_gram(Which::users);  // loads the library's kernel
  }

  bool half_step(Which which, Context& context) override {
    {
      const PhaseScope phase(context.phases, "gram");
      form_gram(which);
    }
    return steps_.half_step(which, context);
  }

  float* factors(Which which) override { return steps_.factors(which); }
  std::int64_t stride() const override { return steps_.stride(); }

  Json facts() const override {
    Json facts = steps_.facts();
    facts["y"] = facts["theta"];
    facts.erase("theta");
    return facts;
  }

 private:
  void form_gram(Which which) {
    gram_.compute(steps_.factors(other_of(which)), stride(), rows_[which == Which::users ? 1 : 0],
                  reg_);
  }

  float reg_;
  std::int64_t rows_[2];
  DeviceGram gram_;
  als::DeviceSteps steps_;
};

}  // namespace

std::unique_ptr<HalfSteps> make_formed_steps(const IalsSettings& settings, DevicePairs& pairs,
                                             const Model& initial, Context& context) {
  return std::make_unique<FormedSteps>(settings, pairs, initial, context);
}

}  // namespace mf::ials
