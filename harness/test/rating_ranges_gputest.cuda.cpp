// Negative, mixed and large ratings, through the whole harness, on a device.
#include "harness/test/rating_ranges.hpp"
#include "testing/cuda/testing.hpp"

namespace mf {
namespace {

TEST(RatingRanges, EveryAlgorithmOfTheDeviceBeatsTheMean) {
  const auto ran = testing::expect_all_beat_the_mean(Hardware::cuda);
  EXPECT_EQ(ran, (std::set<std::string>{"als", "als_fused", "batch_hogwild", "bpmf", "ccd++",
                                        "ebgtg", "ebltg", "gpusgd", "newgpusgd", "sgd_atomic",
                                        "sgd_tiled", "svdpp", "wavefront"}));
}

TEST(RatingRanges, ImplicitFeedbackRefusesNegativeValuesOnTheDevice) {
  EXPECT_EQ(testing::expect_negative_values_are_refused(Hardware::cuda),
            (std::set<std::string>{"bpr", "bpr_tiled", "ials", "ials_fused", "ials_pp"}));
}

}  // namespace
}  // namespace mf
