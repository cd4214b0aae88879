// svdpp on the device against svdpp_cpu: one user at a time the same numbers, several in a band.
#include <gtest/gtest.h>

#include "algorithms/svdpp/test/reference.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::svdpp {
namespace {

using mf::test::planted;
using mf::test::Trainer;

struct Device {
  Device(const Json& changes, const Ratings& train)
      : params(default_params(find_algorithm("svdpp").params, changes)),
        runner("svdpp", params, train, test::start(train, params)) {}

  Params params;
  cuda::TestRunner runner;
};

TEST(SvdppOnDevice, OneUserAtATimeIsTheCpu) {
  const Ratings train = planted(60, 40, .3, 1, .5, .1);
  for (const int f : {1, 3, 16, 17, 20, 32, 45, 64, 100, 128, 200, 512}) {
    Json changes = {{"factors", f}, {"reg", .05}, {"reg_q", .1}, {"reg_y", .4}};
    Trainer cpu("svdpp_cpu", changes, train, test::start);
    changes["workers"] = 1;
    Device device(changes, train);
    const std::string what = "f " + std::to_string(f);
    const auto expect_same = [&](double tolerance) {
      const Model found = device.runner.model(), host = cpu.model();
      cuda::expect_near(found.p, host.p, tolerance, what + " P");
      cuda::expect_near(found.q, host.q, tolerance, what + " Q");
      cuda::expect_near(found.user_bias, host.user_bias, tolerance, what + " b");
      cuda::expect_near(found.item_bias, host.item_bias, tolerance, what + " c");
    };
    expect_same(1e-6);
    EXPECT_EQ(device.runner.run(1, 3, .01), 3 * train.nnz());
    cpu.run(3, .01);
    expect_same(5e-5);
    EXPECT_TRUE(device.runner.padding_is_zero) << what;
  }
}

TEST(SvdppOnDevice, ManyUsersAtATimeLearnAsOne) {
  const Ratings train = planted(400, 150, .3, 1, .7, .1);
  Trainer cpu("svdpp_cpu", {{"factors", 8}}, train, test::start);
  const double start = mf::test::rmse(cpu.model(), train);
  cpu.run(20, .01);
  const double of_cpu = mf::test::rmse(cpu.model(), train);
  EXPECT_LT(of_cpu, .5 * start);
  for (const int workers : {0, 4, 16}) {
    Device device({{"factors", 8}, {"workers", workers}}, train);
    device.runner.run(1, 20, .01);
    EXPECT_NEAR(mf::test::rmse(device.runner.model(), train), of_cpu, .05 * of_cpu) << workers;
  }
}

TEST(SvdppOnDevice, MoreWorkersThanUsers) {
  const Ratings train = planted(7, 5, .5, 1, .5, .1);
  Device device({{"factors", 4}, {"workers", 100000}}, train);
  EXPECT_EQ(device.runner.run(1, 2, .01), 2 * train.nnz());
  for (const float x : device.runner.model().p) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace
}  // namespace mf::svdpp
