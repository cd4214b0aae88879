// Decisions of ials_fused on the host: how weights enter the kernels, its tasks, and the chunks of
// its Gram matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/als/fused/applied/plan.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/ials/fused/gram_chunks.hpp"
#include "algorithms/ials/fused/settings.hpp"
#include "algorithms/ials/fused/tiles.hpp"
#include "algorithms/ials/fused/weighting.hpp"
#include "algorithms/ials/test/plan_reference.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "testing/test_support.hpp"

namespace mf::ials {
namespace {

Weighting of(const std::vector<float>& weights) {
  if (weights.empty()) return weighting_of({});
  const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  return weighting_of({*least, *most});
}

TEST(FusedWeighting, EqualWeightsAreTakenOutOfTheSystem) {
  for (const float w : {1e-6F, 0.01F, 1.0F, 3.0F, 40.0F, 3e7F}) {
    const Weighting weighting = of({w, w, w});
    EXPECT_TRUE(weighting.uniform) << w;
    EXPECT_EQ(weighting.k, w);
    EXPECT_EQ(weighting.beside(), 0);
    // (1 + w) / w in units that keep it near 1: (1 + w) = k unit t
    EXPECT_GE(weighting.entry(w), 1) << w;
    EXPECT_LT(weighting.entry(w), 2) << w;
    EXPECT_DOUBLE_EQ(weighting.entry(w) * weighting.k * weighting.unit, 1 + double{w});
    int exponent = 0;
    EXPECT_EQ(std::frexp(weighting.unit, &exponent), 0.5);
  }
}

TEST(FusedWeighting, OtherWeightsAreScaledByAPowerOfTwo) {
  for (const float most : {1e-4F, 0.5F, 5.0F, 32.0F, 33.0F, 1000.0F, 3.3e7F}) {
    const Weighting weighting = of({most, most / 7, most / 3});
    EXPECT_FALSE(weighting.uniform) << most;
    EXPECT_EQ(weighting.unit, 1);
    int exponent = 0;
    EXPECT_EQ(std::frexp(weighting.k, &exponent), 0.5) << most;
    EXPECT_LE(weighting.entry(most), 32) << most;
    if (most > 0.1F) {
      EXPECT_GT(weighting.entry(most), 16) << most;
    }
    // w / k + 1 / k = (1 + w) / k, and 1 / k is in fp16, if below its normal numbers.
    EXPECT_DOUBLE_EQ((weighting.entry(most) + weighting.beside()) * weighting.k, 1 + double{most});
    EXPECT_LE(weighting.beside(), 65504) << most;
    EXPECT_GE(weighting.beside(), std::exp2(-24)) << most;
  }
}

// A half-step has its rows once more than als_fused.
TEST(IalsFusedInfo, PairsStreamIfOnlyFactorsFit) {
  const AlgorithmInfo& info = find_algorithm("ials_fused");
  const ProblemShape shape{1'000'000, 500'000, 200'000'000};
  const auto params = [&](Json changes) {
    changes["factors"] = 64;
    return default_params(info.params, changes);
  };
  const auto why = [&](const Json& changes) {
    return info.supports(params(changes), shape).value_or("");
  };
  EXPECT_EQ(fused_need(read_fused_settings(params({})), shape).fixed,
            1.5e6 * (6 * 64 + 40 + 4 * 64));
  EXPECT_EQ(why({{"device_gb", 2}}), "");
  EXPECT_HAS(why({{"device_gb", 2}, {"memory", "resident"}}), "use memory \"streamed\"");
  EXPECT_HAS(why({{"device_gb", 0.5}}), "the factors need 972.7 MiB");
  EXPECT_HAS(why({{"devices", 2}, {"memory", "streamed"}}), "use one device");
}

TEST(FusedWeighting, WeightsBeyondItsRangeAreRefused) {
  EXPECT_NO_THROW(of({1, static_cast<float>(kLargestWeight)}));
  const Error error = mf::test::error_of([] { of({1, 4e7F}); });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_HAS(error.what(), "lower alpha");
}

TEST(FusedWeighting, WeightsThatAreAllTinyAreRefused) {
  EXPECT_NO_THROW(of({static_cast<float>(kSmallestWeight), static_cast<float>(kSmallestWeight)}));
  EXPECT_NO_THROW(of({1e-30F, 1}));  // beside weights of a usual size they vanish
  EXPECT_THROW(of({1e-32F, 1e-32F}), Error);
}

TEST(FusedWeighting, NoPairsAtAllAreNoProblem) { EXPECT_TRUE(of({}).uniform); }

constexpr als::AppliedLimits kH200 = {233472, 232448};

als::AppliedChoice choice_of(int factors, int steps = 6, bool group = false) {
  return {als::FusedNormal::automatic, als::FusedPrecision::fp16, factors, steps, true, group};
}
als::AppliedCapacities capacities_of(int factors) {
  return als::applied_capacities(kH200, choice_of(factors));
}

// As the device does it, task by task.
als::AppliedPlan planned(const std::vector<als::FusedTask>& tasks, std::int64_t formed,
                         int factors) {
  const auto count = static_cast<std::int64_t>(tasks.size());
  als::AppliedBands bands;
  bands.formed = formed;
  for (int k = 0; k < als::kAppliedShapes; ++k) {
    bands.band[k] = als::find_band(tasks.data(), formed, count, capacities_of(factors), k);
  }
  return als::plan_applied(bands, count);
}

TEST(AppliedPlan, BlocksFitInAMultiprocessor) {
  for (const als::AppliedLimits limits : {kH200, als::AppliedLimits{102400, 101376}}) {
    for (const int factors : {8, 64, 65, 128, 129, 192, 256, 257, 512}) {
      std::int64_t before = 0;
      for (const auto& [tiles, warps] : als::kAppliedShape) {
        if (tiles > 0) continue;
        const std::int64_t pairs = als::applied_capacity(limits, factors, warps);
        EXPECT_GT(pairs, before);
        before = pairs;
        const std::int64_t bytes = als::applied_bytes(factors, warps, pairs);
        EXPECT_LE(bytes, limits.of_block);
        EXPECT_LE((bytes + 1024) * (als::kAppliedWarps / warps), limits.of_multiprocessor);
        EXPECT_GT(als::applied_bytes(factors, warps, pairs + 1) + 1024,
                  std::min(limits.of_block, limits.of_multiprocessor * warps / als::kAppliedWarps));
      }
    }
  }
  EXPECT_EQ(als::applied_capacity({1000, 1000}, 64, 2), 0);
}

// The results of the device's search, against a walk over all tasks.
TEST(AppliedPlan, BandsAreThoseOfAWalkOverTheTasks) {
  Rng rng(3);
  for (const std::int64_t longest : {32, 8192}) {
    for (const std::int64_t up_to : {-1, 0, 20, 90, 300}) {
      for (const int rows : {1, 40, 2000}) {
        std::vector<std::int64_t> offsets = {0};
        for (int row = 0; row < rows; ++row) {
          offsets.push_back(offsets.back() +
                            static_cast<std::int64_t>(rng.below(1 + rng.below(400))));
        }
        const test::HostPlan plan =
            test::plan_side(View<const std::int64_t>(offsets), longest, up_to);
        const auto count = static_cast<std::int64_t>(plan.tasks.size());
        EXPECT_EQ(als::count_formed(plan.tasks.data(), count, up_to), plan.formed);
        for (const int factors : {8, 128, 256, 512}) {
          const als::AppliedPlan walked = test::plan_applied(View<const als::FusedTask>(plan.tasks),
                                                             plan.formed, capacities_of(factors));
          EXPECT_TRUE(planned(plan.tasks, plan.formed, factors) == walked)
              << rows << " rows, " << up_to << ", " << factors << " factors";
        }
      }
    }
  }
}

TEST(AppliedPlan, RowsAreAppliedAsAskedForWhereTheyFit) {
  const auto longest = [](als::FusedNormal normal, als::FusedPrecision precision, int factors) {
    als::AppliedChoice choice = choice_of(factors, 3);
    choice.normal = normal;
    choice.precision = precision;
    return als::longest_applied(choice, kH200);
  };
  using Normal = als::FusedNormal;
  using Precision = als::FusedPrecision;
  for (const int factors : {16, 128, 256}) {
    const std::int64_t fits = als::applied_capacity(kH200, factors, als::kAppliedWarps);
    EXPECT_EQ(longest(Normal::formed, Precision::fp16, factors), -1);
    EXPECT_EQ(longest(Normal::applied, Precision::fp16x2, factors), -1);
    EXPECT_EQ(longest(Normal::applied, Precision::fp16, factors), fits);
    EXPECT_EQ(longest(Normal::automatic, Precision::fp16, factors),
              std::min(fits, als::applied_break_even(choice_of(factors, 3))));
  }
  // All of them if A is not formed.
  for (const Normal normal : {Normal::automatic, Normal::applied}) {
    EXPECT_EQ(longest(normal, Precision::fp16, 257), std::numeric_limits<std::int32_t>::max());
  }
}

TEST(FusedKernels, ThereIsAKernelForEveryNumberOfFactors) {
  for (int factors = 1; factors <= 256; ++factors) {
    const int tiles = kernel_tiles(false, factors);
    EXPECT_GE(tiles * als::kFusedTile, factors);
    EXPECT_EQ(als::fused_stride_of_tiles(tiles), als::fused_stride(factors));
    EXPECT_EQ(std::count(std::begin(kWeightedTileCounts), std::end(kWeightedTileCounts), tiles), 1)
        << factors;
    EXPECT_EQ(kernel_tiles(true, factors), als::fused_tiles(factors));
  }
}

// The multiplication and the kernel of the rest rely on this.
void expect_all_in_chunks(std::int64_t rows) {
  SCOPED_TRACE(rows);
  const GramChunks chunks = gram_chunks(rows);
  EXPECT_EQ(chunks.count * chunks.rows + chunks.rest, rows);
  EXPECT_GE(chunks.count, 0);
  EXPECT_LE(chunks.count, kMostGramChunks);
  EXPECT_GE(chunks.rows, kFewestChunkRows);
  EXPECT_GE(chunks.rest, 0);
  EXPECT_LT(chunks.rest, kMostGramChunks);
  EXPECT_EQ(chunks.count, most_gram_chunks(rows));
  EXPECT_LE(chunks.count, most_gram_chunks(rows + 1));  // of a buffer for more rows
}

TEST(FusedGramChunks, HaveAllRowsButAFew) {
  for (std::int64_t rows = 0; rows < 70'000; ++rows) expect_all_in_chunks(rows);
  for (const std::int64_t rows :
       {138'287LL, 480'189LL, 999'999'999LL, 1'000'000'000LL, 1LL << 40}) {
    expect_all_in_chunks(rows);
  }
}

TEST(IalsFusedInfo, WhatItCannotDoIsRefused) {
  const AlgorithmInfo& info = find_algorithm("ials_fused");
  EXPECT_FALSE(info.supports(default_params(info.params), {}).has_value());
  const auto why = [&](const Json& changes) {
    return info.supports(default_params(info.params, changes), {}).value_or("");
  };
  EXPECT_HAS(why({{"reg", 0}}), "reg");
  EXPECT_HAS(why({{"precision", "fp16x2"}, {"normal", "applied"}}), "fp16x2");
  EXPECT_EQ(why({{"factors", 512}}), "");
  EXPECT_HAS(why({{"factors", 300}, {"normal", "formed"}}), "300 factors");
  EXPECT_ANY_THROW(default_params(info.params, {{"factors", 513}}));
}

}  // namespace
}  // namespace mf::ials
