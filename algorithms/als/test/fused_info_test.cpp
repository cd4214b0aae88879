// The facts of als_fused before it runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/als/fused/settings.hpp"
#include "algorithms/als/test/group_element.hpp"
#include "algorithms/core/registry.hpp"
#include "base/json/json.hpp"
#include "testing/test_support.hpp"

namespace mf::als {
namespace {

TEST(AlsFusedInfo, AppliedRowsHaveOneWordAFactor) {
  const AlgorithmInfo& info = find_algorithm("als_fused");
  EXPECT_FALSE(info.supports(default_params(info.params), {}).has_value());
  const auto why = info.supports(
      default_params(info.params, {{"precision", "fp16x2"}, {"normal", "applied"}}), {});
  EXPECT_HAS(why.value_or(""), "fp16x2");
}

TEST(AlsFusedInfo, LongRowsAreAppliedAlone) {
  const AlgorithmInfo& info = find_algorithm("als_fused");
  const auto why = [&](const Json& changes) {
    return info.supports(default_params(info.params, changes), {}).value_or("");
  };
  for (const char* normal : {"auto", "applied"}) {
    EXPECT_EQ(why({{"factors", 512}, {"normal", normal}}), "");
  }
  EXPECT_EQ(why({{"factors", 256}, {"normal", "formed"}}), "");
  EXPECT_HAS(why({{"factors", 257}, {"normal", "formed"}}), "257 factors");
  EXPECT_HAS(why({{"factors", 257}, {"precision", "fp16x2"}}), "use precision \"fp16\"");
  EXPECT_ANY_THROW(default_params(info.params, {{"factors", 513}}));
}

FusedSettings settings_of(const Json& changes) {
  return read_fused_settings(default_params(find_algorithm("als_fused").params, changes));
}

// A multiprocessor holds 10 to 12 blocks of 64 factors, one of 256.
TEST(AlsFusedInfo, RowsAreCutAtABlocksShareOfFewRatings) {
  const auto part = [](int factors, std::int64_t ratings) {
    return part_of_few(settings_of({{"factors", factors}}), ratings);
  };
  EXPECT_EQ(part(64, 1'584'000), 1000);
  EXPECT_EQ(part(256, 1'320'000), 10'000);
  EXPECT_LT(part(100, 5'000'000), part(128, 5'000'000));
  EXPECT_EQ(part(64, 800'167), 512) << "no shorter ones";
  EXPECT_EQ(part(64, 0), 512);
  EXPECT_GT(part(64, 99'072'112), 8192) << "split_rows holds";
}

TEST(AlsFusedInfo, RowsOfFewRatingsAreFormedWhereThatIsCheap) {
  const auto normal = [](const char* asked, int factors, std::int64_t ratings) {
    return normal_of(settings_of({{"factors", factors}, {"normal", asked}}), ratings);
  };
  EXPECT_EQ(normal("auto", 128, 3'999'999), FusedNormal::formed);
  EXPECT_EQ(normal("auto", 128, 4'000'000), FusedNormal::automatic);
  EXPECT_EQ(normal("auto", 129, 1000), FusedNormal::automatic);
  EXPECT_EQ(normal("applied", 64, 1000), FusedNormal::applied);
  EXPECT_EQ(normal("formed", 64, 4'000'000), FusedNormal::formed);
}

TEST(AlsFusedInfo, SolvedBiasesAreOfOneDeviceAndOneOfTheUnknowns) {
  const auto why = [](Json changes) {
    changes["center"] = "solved";
    const AlgorithmInfo& info = find_algorithm("als_fused");
    return info.supports(default_params(info.params, changes), {}).value_or("");
  };
  EXPECT_EQ(why({{"factors", 511}}), "");
  EXPECT_HAS(why({{"factors", 512}}), "use 511 factors or fewer");
  EXPECT_HAS(why({{"devices", 2}}), "use one device");
}

// 480,189 and 17,770 rows of 64 factors: 6 bytes a number, an offset and a task.
TEST(AlsFusedInfo, RatingsStreamIfOnlyFactorsFit) {
  const ProblemShape netflix{480'189, 17'770, 98'800'000};
  const auto why = [&](Json changes) {
    changes["factors"] = 64;
    const AlgorithmInfo& info = find_algorithm("als_fused");
    return info.supports(default_params(info.params, changes), netflix).value_or("");
  };
  const StreamingNeed need = fused_need(settings_of({{"factors", 64}}), netflix);
  EXPECT_EQ(need.fixed, 497'959.0 * (6 * 64 + 40));
  EXPECT_GT(need.resident, 32 * 98.8e6 - 1);
  EXPECT_EQ(why({{"device_gb", 1}}), "");
  EXPECT_EQ(why({{"device_gb", 1}, {"memory", "streamed"}}), "");
  EXPECT_HAS(why({{"device_gb", 1}, {"memory", "resident"}}), "device_gb 1: factors and ratings");
  EXPECT_HAS(why({{"device_gb", 0.1}}), "the factors need 201.4 MiB");
  EXPECT_HAS(why({{"center", "solved"}, {"memory", "streamed"}}), "use center \"biases\"");
  EXPECT_EQ(why({{"center", "solved"}}), "");
  EXPECT_HAS(why({{"center", "solved"}, {"device_gb", 1}}), "center \"solved\" changes");
  EXPECT_HAS(why({{"devices", 2}, {"memory", "streamed"}}), "use one device");
}

TEST(AppliedPlan, RowsCostMoreTheLongerTheyAre) {
  for (const int factors : {32, 64, 100, 192, 256}) {
    AppliedChoice choice;
    choice.factors = factors;
    choice.steps = 6;
    for (const int words : {1, 2}) {
      choice.precision = words == 1 ? FusedPrecision::fp16 : FusedPrecision::fp16x2;
      const std::int64_t up_to = words == 1 ? applied_break_even(choice) : -1;
      double before = 0;
      for (const std::int64_t count : {0, 1, 10, 50, 100, 1000, 100000}) {
        const double cycles = row_cycles(count, choice, up_to);
        EXPECT_GT(cycles, before) << factors << " " << count;
        before = cycles;
      }
    }
    // Up to the break-even forming costs no less, beyond it no more.
    for (const bool dual : {true, false}) {
      choice = {FusedNormal::automatic, FusedPrecision::fp16, factors, 6, dual};
      const std::int64_t even = applied_break_even(choice);
      EXPECT_LE(row_cycles(even, choice, even), row_cycles(even, choice, even - 1));
      EXPECT_GE(row_cycles(even + 1, choice, even + 1), row_cycles(even + 1, choice, even));
    }
  }
}

TEST(AppliedPlan, NoRowIsSolvedInTheSpaceOfItsPairsUnlessChosen) {
  for (const int factors : {8, 128, 256, 512}) {
    for (const bool dual : {true, false}) {
      const AppliedChoice choice = {FusedNormal::applied, FusedPrecision::fp16, factors, 6, dual};
      const AppliedCapacities most = applied_capacities({233472, 232448}, choice);
      for (int k = 0; k < kAppliedShapes; ++k) {
        if (kAppliedShape[k].tiles == 0) continue;
        EXPECT_EQ(most.pairs[k] > 0, dual && factors <= 256) << factors << " " << k;
      }
    }
  }
}

TEST(GroupLayout, EveryElementHasAPlaceOfItsOwn) {
  std::vector<int> seen(kGroupSlotFloats, 0);
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < (i / 64 + 1) * 64; ++j) ++seen[test::group_element_at(i, j)];
    ++seen[group_b_at(i)];
  }
  for (const int times : seen) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace mf::als
