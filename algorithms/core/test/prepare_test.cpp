#include "algorithms/core/prepare.hpp"

#include <gtest/gtest.h>

#include "algorithms/core/registry.hpp"
#include "base/error.hpp"
#include "testing/models.hpp"
#include "testing/triples.hpp"

namespace mf {
namespace {

std::string told;  // the events, in order

class Recorder : public PhaseSink {
 public:
  void begin(const char* phase) override { told += std::string("<") + phase; }
  void end() override { told += ">"; }
};

class Silent : public Algorithm {
 public:
  void prepare(const Ratings&, const Model& initial, Context&) override {
    told += initial.kind == ModelKind::plain ? " plain" : " biased";
  }
  std::int64_t run_epoch(const EpochArgs&, Context&) override { return 0; }
  FactorView factors() override { return {}; }
  Work work_per_epoch() const override { return {}; }
};

AlgorithmInfo silent_info() {
  AlgorithmInfo info;
  info.name = "silent";
  info.family = "test";
  return info;
}

const RegisterInfo registered_info(silent_info());
const RegisterFactory registered("silent", [](const Params&) {
  told += "made";
  return std::make_unique<Silent>();
});

TEST(PrepareAlgorithm, TimesPrepareAndTheWaitForItAndNothingElse) {
  Recorder recorder;
  Context context;
  context.phases = &recorder;
  told.clear();
  EXPECT_TRUE(prepare_algorithm("silent", {}, {}, {}, context, [] { told += " waited"; }));
  EXPECT_EQ(told, "made<prepare biased waited>");
}

TEST(PrepareAlgorithm, NeedsNeitherASinkNorSomethingToWaitFor) {
  Context context;
  told.clear();
  Model plain;
  plain.kind = ModelKind::plain;
  EXPECT_TRUE(prepare_algorithm("silent", {}, {}, plain, context));
  EXPECT_EQ(told, "made plain");
}

Params params_with(const char* model) {
  Params params;
  params.set("factors", std::int64_t{3});
  if (model != nullptr) params.set("model", std::string(model));
  return params;
}

TEST(InitialModel, IsOfTheParametersAndPlainWithoutAModel) {
  EXPECT_EQ(model_kind(params_with(nullptr)), ModelKind::plain);
  EXPECT_EQ(model_kind(params_with("plain")), ModelKind::plain);
  EXPECT_EQ(model_kind(params_with("biased")), ModelKind::biased);
  EXPECT_THROW(model_kind(params_with("other")), Error);
  const Ratings train = test::ratings_of(2, 2, {{0, 0, 2}, {1, 1, 5}});
  const Model model = initial_model_of(params_with("biased"), train, InitSpec{}, 1);
  const Model same = initial_model(2, 2, 3, ModelKind::biased, 3.5, InitSpec{}, 1);
  test::expect_same(model, same);
}

}  // namespace
}  // namespace mf
