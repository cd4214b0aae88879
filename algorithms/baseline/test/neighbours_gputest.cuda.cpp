// item_knn_device, rp3beta_device and user_knn_device against the same on the CPU, bit for bit but
// for the order of the sum of a row of W.
#include <gtest/gtest.h>

#include "algorithms/baseline/test/history_reference.hpp"
#include "testing/cuda/test_runner.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/trainer.hpp"

namespace mf::baseline {
namespace {

using test::Matrix;

struct Both {
  Both(const std::string& name, const Json& changes, const Ratings& train)
      : params(default_params(find_algorithm(name + "_device").params, changes)),
        device(name + "_device", params, train, test::no_start(train, params)),
        cpu(name, changes, train, test::no_start, 2) {}
  void run() {
    device.run(1, 1, 0);
    cpu.run(1);
  }
  Matrix found() { return test::weights_of(*device.algorithm); }

  Params params;
  cuda::TestRunner device;
  test::Trainer cpu;
};

void expect_same_weights(const std::string& name, const Json& set, const Ratings& train) {
  Both both(name, set, train);
  both.run();
  const Matrix expected = test::weights_of(*both.cpu.algorithm);
  ASSERT_GT(expected.maxCoeff(), 0);
  const double tolerance = set.contains("normalize") ? 1e-7 : 0;
  EXPECT_LE(test::distance(both.found(), expected), tolerance) << name << " " << set;
}

// Uneven rows, an item without a user, values of 0.
TEST(NeighboursOnDevice, AreThoseOfTheCpuBySettings) {
  const Ratings train = test::some_pairs();
  for (const std::string& text : test::kKnnSettings) {
    expect_same_weights("item_knn", Json::parse(text), train);
  }
  for (const std::string& text : test::kWalkSettings) {
    expect_same_weights("rp3beta", Json::parse(text), train);
  }
}

// A cut at each place within rows of similarities that are all equal, or equal by halves.
TEST(NeighboursOnDevice, OfEqualOnesTheFirstAreKept) {
  std::vector<Rating> list;
  for (std::int32_t u = 0; u < 6; ++u) {
    for (std::int32_t i = 0; i < 300; ++i) {
      if (u < 3 || i % 2 == 0) list.push_back({u, i, 1});
    }
  }
  const Ratings train = test::ratings_of(6, 300, list);
  for (const int k : {1, 2, 127, 128, 129, 149, 150, 151, 298, 299, 300}) {
    for (const char* of : {"rows", "columns"}) {
      expect_same_weights("item_knn", {{"k", k}, {"nearest_of", of}}, train);
      expect_same_weights("item_knn", {{"k", k}, {"nearest_of", of}, {"similarity", "dot"}}, train);
    }
  }
}

// The places of 3,000 x 2,999 neighbours are more than a launch has.
TEST(NeighboursOnDevice, AreThoseOfTheCpuOverLaunches) {
  const Ratings train = test::planted(300, 3000, .01, 5, 1, .3);
  expect_same_weights("rp3beta", {{"neighbors", 1'000'000}}, train);
  expect_same_weights("rp3beta", {{"neighbors", 50}}, train);
}

TEST(NeighboursOnDevice, OneItemHasNone) {
  Both both("item_knn", Json::object(), test::ratings_of(2, 1, {{0, 0, 1}, {1, 0, 1}}));
  both.run();
  EXPECT_EQ(both.found(), Matrix::Zero(1, 1));
}

TEST(NeighboursOnDevice, ASecondEpochFindsTheSame) {
  const Ratings train = test::some_pairs();
  Both both("rp3beta", {{"neighbors", 9}, {"normalize", "rows"}}, train);
  both.run();
  const Matrix first = both.found();
  both.device.run(2, 1, 0);
  EXPECT_EQ(both.found(), first);
}

TEST(NeighboursOnDevice, UsersAreThoseOfTheCpu) {
  const Ratings train = test::some_pairs();
  for (const std::string& text : test::kKnnSettings) {
    Json set = Json::parse(text);
    set.erase("normalize");
    set["nearest_of"] = "columns";
    Both both("user_knn", set, train);
    both.run();
    for (std::int32_t u = 1; u < train.n_users(); ++u) {
      std::vector<RowRating> history;
      for (std::int64_t k = train.user_offsets()[u]; k < train.user_offsets()[u + 1]; ++k) {
        if (train.values()[k] > 0) history.push_back({train.items()[k], 1});
      }
      AlignedVector<float> found(train.n_items()), expected(train.n_items());
      const View<const RowRating> items(history);
      both.device.algorithm->factors().scores->score(items, found);
      both.cpu.algorithm->factors().scores->score(items, expected);
      ASSERT_EQ(found, expected) << text << " user " << u;
    }
  }
}

}  // namespace
}  // namespace mf::baseline
