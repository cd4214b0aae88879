#include "harness/run/plan/host_need.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/pinned.hpp"
#include "base/json/json.hpp"
#include "datasets/ratings/packed/packed_form.hpp"
#include "harness/results/files/stored_results.hpp"
#include "harness/run/plan/preflight.hpp"
#include "harness/experiment/spec.hpp"

namespace mf {
namespace {

constexpr double kUsers = 1'000'000, kItems = 10'000, kNnz = 1e9;
constexpr double kOffsets = 8 * (kUsers + 1), kIds = 4 * (kUsers + kItems);
constexpr double kWhole = 12 * kNnz + kOffsets + kIds;
constexpr double kParts = 12 * kNnz + 2 * kOffsets + kIds;

Case case_of(const std::string& split = R"({"holdout": 0.1})",
             const std::string& algorithm = "sgd_serial") {
  const std::string text = R"({"name": "t", "datasets": [{"like": "ml-1m", "split": )" + split +
                           R"(}], "algorithms": [{"name": ")" + algorithm +
                           R"(", "factors": 32}], "stop": {"epochs": 1}})";
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

TEST(HostNeed, OfOneOfFourRanksIsAQuarterOfTheRatingsAndTheOffsetsOfAll) {
  HostData data = data_of(DataFrom::cache);
  const HostNeed whole = host_need(case_of(), data);
  data.slices = 4;
  const HostNeed share = host_need(case_of(), data);
  EXPECT_DOUBLE_EQ(share.load, 3 * kNnz + kOffsets + kIds);
  EXPECT_NEAR(share.cut, whole.cut / 4, 0.02 * whole.cut);
}

// Each has its own test ratings, or rank 0 those of all, beside its own and the packed ones of the
// others as they come.
TEST(HostNeed, OfRanksHasTheTestPartWhereItIsEvaluated) {
  HostData data = data_of(DataFrom::cache);
  for (const auto& [algorithm, gathered] :
       {std::pair("als_cpu", 0.0), std::pair("fpsgd", 12 * 0.1 + 8 * 0.1 * 0.75)}) {
    const Case item = case_of(R"({"holdout": 0.1})", algorithm);
    data.slices = 1;
    const double whole = host_need(item, data).train;
    data.slices = 4;
    EXPECT_NEAR(whole - host_need(item, data).train, (9 - gathered) * kNnz, 4 * (kOffsets + kIds))
        << algorithm;
  }
}

TEST(HostNeed, HoldsTwoCopiesWhereTheRatingsStay) {
  for (const DataFrom from : {DataFrom::generator, DataFrom::cache}) {
    HostData data = data_of(from);
    data.kept = true;
    const HostNeed need = host_need(case_of(), data);
    EXPECT_DOUBLE_EQ(need.cut, kWhole + kParts);
    EXPECT_LT(need.surely, 1.1 * kParts) << "they are given up where memory is short";
  }
  EXPECT_DOUBLE_EQ(host_need(case_of(), data_of(DataFrom::ratings_at_hand)).cut, kWhole + kParts);
}

struct Needs {
  HostNeed before, after;
};
Needs needs_with(DataFrom from, double HostData::*bytes, double value) {
  HostData data = data_of(from);
  const HostNeed before = host_need(case_of(), data);
  data.*bytes = value;
  return {before, host_need(case_of(), data)};
}

TEST(HostNeed, CountsWhatMakingTakesBesideTheRatings) {
  const auto [before, need] = needs_with(DataFrom::generator, &HostData::making_bytes, 5e6);
  EXPECT_DOUBLE_EQ(need.load, before.load + 5e6);
  EXPECT_DOUBLE_EQ(need.train, before.train) << "it is given back";
}

TEST(HostNeed, CountsWhatIsPackedFromThenOn) {
  const auto [before, need] = needs_with(DataFrom::cache, &HostData::packed_bytes, 2e9);
  EXPECT_DOUBLE_EQ(need.train, before.train + 2e9);
  EXPECT_DOUBLE_EQ(need.cut, before.cut) << "it is packed when the parts are there";
}

TEST(HostNeed, DoesNotCountUsersThatAreLeftOut) {
  const auto [before, need] = needs_with(DataFrom::cache, &HostData::left_out_bytes, 3e9);
  EXPECT_DOUBLE_EQ(need.train, before.train - 3e9);
  EXPECT_DOUBLE_EQ(need.cut, before.cut - 3e9);
}

TEST(HostNeed, ExpectsPackedRatingsWhereTheyGoToADevice) {
  const auto expected = [](const std::string& name) {
    const std::string text = R"({"name": "t", "datasets": [{"like": "netflix"}],
        "algorithms": [{"name": ")" +
                             name + R"("}], "stop": {"epochs": 1}})";
    return *expected_data(parse_spec(parse_json(text, "t"), "t.json").cases.at(0));
  };
  const HostData device = expected("als_fused");
  EXPECT_NEAR(device.packed_bytes, (15.0 + 8.0) / 8 * static_cast<double>(device.train_nnz), 8);
  EXPECT_DOUBLE_EQ(device.left_out_bytes, 4 * static_cast<double>(device.train_nnz));
  EXPECT_EQ(expected("als_cpu").packed_bytes, 0);
  EXPECT_EQ(expected("als_cpu").left_out_bytes, 0);
}

TEST(HostNeed, SortsWhatFilesHaveBesideIt) {
  HostData data = data_of(DataFrom::files);
  data.source_bytes = 2e9;
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).load, 24 * kNnz + kOffsets + kIds);
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).surely, 20 * kNnz);
  data.source_bytes = 17e9;  // read and hashed beside 12 bytes a rating
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).load, 17e9 + 12 * kNnz);
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
  data.kept = true;
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).train, need.train + kWhole);
}

TEST(HostNeed, KeepsALabelARatingForSplitsThatDoNotDrawRatings) {
  const HostData data = data_of(DataFrom::cache);
  EXPECT_DOUBLE_EQ(host_need(case_of(R"({"leave_out": 1})"), data).cut,
                   host_need(case_of(), data).cut + kNnz);
}

TEST(HostNeed, TimesStandBesideTheRatingsUntilTheseAreCut) {
  for (const DataFrom from : {DataFrom::cache, DataFrom::files}) {
    HostData data = data_of(from);
    const HostNeed plain = host_need(case_of(), data);
    data.times = true;
    const HostNeed need = host_need(case_of(), data);
    const double sorted = 64 * kNnz + kOffsets + kIds;  // of files: while their order is found
    EXPECT_DOUBLE_EQ(need.load, from == DataFrom::files ? sorted : plain.load + 16 * kNnz);
    EXPECT_DOUBLE_EQ(need.cut, plain.cut + 16 * kNnz);
    EXPECT_DOUBLE_EQ(need.train, plain.train);
    data.kept = true;
    EXPECT_DOUBLE_EQ(host_need(case_of(), data).train, need.train + kWhole + 16 * kNnz);
  }
}

TEST(HostNeed, ARuleForImplicitFeedbackIsAppliedBesideWhatItIsAppliedTo) {
  HostData data = data_of(DataFrom::cache);
  data.before_rules = data.whole;
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).load, 2 * kWhole);
  EXPECT_DOUBLE_EQ(host_need(case_of(), data).cut,
                   host_need(case_of(), data_of(DataFrom::cache)).cut);
}

TEST(HostNeed, WhatStandsIsBesideTheData) {
  HostData data = data_of(DataFrom::cache);
  data.program_bytes = 5e6;
  data.standing_bytes = 7e8;
  const HostNeed single = host_need(case_of(), data_of(DataFrom::cache));
  const HostNeed need = host_need(case_of(), data);
  EXPECT_DOUBLE_EQ(need.load, single.load + 7e8);
  EXPECT_DOUBLE_EQ(need.cut, single.cut + 7e8);
  EXPECT_DOUBLE_EQ(need.train, single.train + 7e8);
  EXPECT_EQ(need.surely, single.surely);
}

// ---- the committed results of one H100 or H200 ----

constexpr double kProgram = 212e6;  // a CUDA build there, which has cuBLAS and cuSOLVER mapped
constexpr double kContext = 114e6;  // stands before the first case loads

struct MeasuredCase {
  std::string file;
  Case item;
  ResultFile result;
};

Case today(const Spec& spec, const Json& algorithm) {
  for (const Case& item : spec.cases) {
    if (item.algorithm == algorithm["name"].get<std::string>() &&
        item.params.integer("factors") == algorithm["params"]["factors"].get<std::int64_t>()) {
      return item;
    }
  }
  ADD_FAILURE() << "not in the spec: " << algorithm;
  return spec.cases.at(0);
}

// In the order in which they ran.
std::vector<MeasuredCase> measured_cases(const std::string& folder) {
  const StoredResults stored =
      read_stored_results(std::string(MF_SOURCE_DIR) + "/results/reference/" + folder);
  const Spec spec = parse_spec(stored.spec.at("spec"), "spec.json");
  std::vector<MeasuredCase> cases;
  for (const auto& id : stored.spec.at("cases")) {
    for (const auto& [path, file] : stored.cases) {
      if (file.header.at("case_id") != id) continue;
      cases.push_back({path, today(spec, file.header.at("algorithm")), file});
    }
  }
  return cases;
}

// Where the ratings came from, and whether the whole stood beside its parts, depends on the cache
// and the memory of that day, which no file has: the way whose need is nearest to the plan of that
// day.
HostData as_planned(const Case& item, HostData data, double planned) {
  std::vector<HostData> ways;
  for (const DataFrom from : {DataFrom::cache, DataFrom::generator}) {
    for (const bool kept : {false, true}) {
      HostData way = data;
      if (data.from != DataFrom::split_at_hand) way.from = from;
      way.kept = kept;
      ways.push_back(way);
    }
  }
  const auto distance = [&](const HostData& way) {
    return std::abs(host_need(item, way).peak() - planned);
  };
  return *std::ranges::min_element(ways, {}, distance);
}

// Where the load has packed the training ratings, by the values of their scale.
double packed_bytes(const MeasuredCase& measured, const HostData& data) {
  if (measured.result.footer.at("load_parts").value("pack_s", 0.0) == 0) return 0;
  const Json& scale = measured.result.header.at("dataset").at("scale");
  double steps = 0;
  if (!scale.is_null()) {
    steps = (scale.at("max").get<double>() - scale.at("min").get<double>()) /
            scale.at("step").get<double>();
  }
  const PackedForm form{bits_below(data.whole.n_items), bits_below(1 + std::lround(steps))};
  return 8.0 * static_cast<double>(form.words(data.train_nnz));
}

// What the pinned memory of those days, up to eight pieces of 16 MiB, had beyond today's.
double pinned_beyond(const MeasuredCase& measured, std::int64_t train_nnz) {
  if (measured.result.header.at("algorithm").at("hardware") != "cuda") return 0;
  constexpr std::int64_t kPiece = std::int64_t{16} << 20;
  const std::int64_t then = std::clamp<std::int64_t>((8 * train_nnz + kPiece - 1) / kPiece, 1, 8);
  return static_cast<double>(then * kPiece - pinned_pieces(8 * train_nnz) * kPinnedPieceBytes);
}

HostData data_of(const MeasuredCase& measured, double standing) {
  const Json& set = measured.result.header.at("dataset");
  const Json& footer = measured.result.footer;
  HostData data;
  data.train_nnz = set.at("nnz_train");
  data.whole = {set.at("n_users"), set.at("n_items"),
                data.train_nnz + set.at("nnz_test").get<std::int64_t>()};
  if (set.contains("implicit")) data.before_rules = data.whole;
  if (footer.at("shared").contains("load")) data.from = DataFrom::split_at_hand;
  data.packed_bytes = packed_bytes(measured, data);
  data.program_bytes = kProgram + pinned_beyond(measured, data.train_nnz);
  data.standing_bytes = standing;
  data.threads = 16;
  return as_planned(measured.item, data, footer.at("planned_host_bytes"));
}

TEST(HostNeed, IsWithinATwentiethOfWhatWasMeasured) {
  for (const char* folder :
       {"h100/whole-run", "h100/whole-run.families", "h100/whole-run.implicit",
        "h100/whole-run.blocks", "h200/whole-run.hugewiki", "h100/whole-run.ml1m"}) {
    double standing = kProgram + kContext;
    Json process;  // which older files do not name: theirs ran in one
    const auto cases = measured_cases(folder);
    EXPECT_GE(cases.size(), 2u) << folder;
    for (const MeasuredCase& measured : cases) {
      const Json of = measured.result.header.at("environment").value("process", Json());
      if (of != process) standing = kProgram + kContext;
      process = of;
      const HostData data = data_of(measured, standing);
      const double peak = measured.result.footer.at("peak_host_bytes");
      EXPECT_NEAR(host_need(measured.item, data).peak() / peak, 1, 0.05) << measured.file;
      standing = left_standing(measured.item, data);
    }
  }
}

}  // namespace
}  // namespace mf
