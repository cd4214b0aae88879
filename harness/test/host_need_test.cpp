#include "harness/run/host_need.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "harness/run/preflight.hpp"
#include "harness/spec/spec.hpp"

namespace mf {
namespace {

constexpr double kUsers = 1'000'000, kItems = 10'000, kNnz = 1e9;
constexpr double kOffsets = 8 * (kUsers + 1), kIds = 4 * (kUsers + kItems);
constexpr double kWhole = 12 * kNnz + kOffsets + kIds;
constexpr double kParts = 12 * kNnz + 2 * kOffsets + kIds;

Case case_of(const std::string& split = R"({"holdout": 0.1})") {
  const std::string text =
      R"({"name": "t", "datasets": [{"like": "ml-1m", "split": )" + split +
      R"(}], "algorithms": [{"name": "sgd_serial", "factors": 32}], "stop": {"epochs": 1}})";
  return parse_spec(parse_json(text, "t"), "t.json").cases.at(0);
}

HostData data_of(DataFrom from) {
  HostData data;
  data.whole = {static_cast<std::int64_t>(kUsers), static_cast<std::int64_t>(kItems),
                static_cast<std::int64_t>(kNnz)};
  data.train_nnz = static_cast<std::int64_t>(0.9 * kNnz);
  data.from = from;
  data.threads = 16;
  return data;
}

TEST(HostNeed, CutsMappedRatingsInLittleMoreThanOneCopy) {
  const HostNeed need = host_need(case_of(), data_of(DataFrom::cache));
  EXPECT_DOUBLE_EQ(need.load, kWhole);
  EXPECT_NEAR(need.cut, 12 * kNnz, 0.05 * 12 * kNnz);
  EXPECT_GT(need.cut, kParts);
  EXPECT_DOUBLE_EQ(need.surely, need.cut);
}

TEST(HostNeed, HoldsTwoCopiesWhereTheRatingsStay) {
  for (const DataFrom from : {DataFrom::generator, DataFrom::cache}) {
    HostData data = data_of(from);
    data.kept_in_cut = true;
    const HostNeed need = host_need(case_of(), data);
    EXPECT_DOUBLE_EQ(need.cut, kWhole + kParts);
    EXPECT_LT(need.surely, 1.1 * kParts) << "they are given up where memory is short";
  }
  EXPECT_DOUBLE_EQ(host_need(case_of(), data_of(DataFrom::ratings_at_hand)).cut, kWhole + kParts);
}

TEST(HostNeed, SortsWhatFilesHaveInTwentyBytesARating) {
  HostData data = data_of(DataFrom::files);
  data.source_bytes = 2e9;
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).load, 20 * kNnz + kOffsets + kIds);
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).surely, 20 * kNnz);
  data.source_bytes = 17e9;  // read and hashed beside 12 bytes a rating
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).load, 34e9 + 12 * kNnz);
}

TEST(HostNeed, LoadsNothingWhereTheSplitIsThere) {
  HostData data = data_of(DataFrom::split_at_hand);
  data.program_bytes = 5e6;
  const HostNeed need = host_need(case_of(), data);
  EXPECT_EQ(need.load, 5e6);
  EXPECT_EQ(need.cut, 5e6);
  EXPECT_EQ(need.surely, 0);
  // The parts, the ratings again in the order of the epoch, rows of the model and of the algorithm.
  const double expected = kParts + 12 * 0.9 * kNnz + 2 * 4 * 33 * (kUsers + kItems);
  EXPECT_NEAR(need.train, expected, 0.02 * expected);
  data.kept_in_training = true;
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).train, need.train + kWhole);
}

TEST(HostNeed, KeepsALabelARatingForSplitsThatDoNotDrawRatings) {
  const HostData data = data_of(DataFrom::cache);
  EXPECT_DOUBLE_EQ(host_need(case_of(R"({"leave_out": 1})"), data).cut,
                   host_need(case_of(), data).cut + kNnz);
}

}  // namespace
}  // namespace mf
