// ease on the device, against its definition dense and in double, and against ease_cpu.
#include <gtest/gtest.h>

#include "algorithms/baseline/ease.hpp"
#include "algorithms/baseline/test/history_reference.hpp"
#include "base/json/json.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/trainer.hpp"

namespace mf::baseline {
namespace {

using test::Matrix;

struct Device {
  Device(const Json& changes, const Ratings& train)
      : params(default_params(find_algorithm("ease").params, changes)),
        runner("ease", params, train, test::no_start(train, params)) {}
  Matrix weights() { return test::weights_of(*runner.algorithm); }

  Params params;
  cuda::TestRunner runner;
};

TEST(Ease, IsTheClosedFormOfThePaper) {
  const Ratings train = test::some_pairs();
  const Json changes = {{"reg", 20}};
  Device ease(changes, train);
  EXPECT_EQ(ease.weights(), Matrix::Zero(230, 230));
  EXPECT_EQ(ease.runner.run(1, 1, 0), train.nnz());
  const Matrix found = ease.weights();
  EXPECT_LT(test::distance(found, test::reference_ease(test::dense(train), 20)), 1e-5);
  test::Trainer cpu("ease_cpu", changes, train, test::no_start);
  cpu.run(1);
  EXPECT_LT(test::distance(found, test::weights_of(*cpu.algorithm)), 1e-5);
  Device dropped({{"reg", 20}, {"dropout", 0.4}}, train);
  dropped.runner.run(1, 1, 0);
  EXPECT_LT(test::distance(dropped.weights(), test::reference_ease(test::dense(train), 20, 0.4)),
            1e-5);
  ease.runner.run(2, 1, 0);
  EXPECT_EQ(ease.weights(), found) << "a second epoch";
}

// More items than two blocks of the inverse, and a last one of another size.
TEST(Ease, IsThatOfTheCpuOverBlocks) {
  const Ratings train = test::planted(400, 2 * 512 + 77, .01, 5, 1, .3);
  Device ease({{"reg", 10}}, train);
  ease.runner.run(1, 1, 0);
  test::Trainer cpu("ease_cpu", {{"reg", 10}}, train, test::no_start, 2);
  cpu.run(1);
  EXPECT_LT(test::distance(ease.weights(), test::weights_of(*cpu.algorithm)), 1e-5);
}

TEST(Ease, SaysWhereThereIsNoInverse) {
  std::vector<Rating> list;  // of two items whose columns are the same
  for (std::int32_t u = 0; u < 256; ++u) {
    list.push_back({u, 0, 1});
    list.push_back({u, 1, 1});
  }
  Device ease({{"reg", 1e-6}}, test::ratings_of(256, 2, list));
  try {
    ease.runner.run(1, 1, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is not positive definite"), std::string::npos);
  }
}

}  // namespace
}  // namespace mf::baseline
