#include "harness/run/data/shared_cases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "harness/test/runs.hpp"

namespace mf {
namespace {

using testing::spec_from;

const std::vector<std::string> kAlgorithms = {R"("sgd_serial")", R"("als_fused")",
                                              R"({"name": "peer", "library": "libmf"})"};

Case case_of(std::uint64_t data, std::uint64_t seed, const std::string& algorithm) {
  const std::string text = R"({"name": "t", "datasets": [{"like": "ml-)" +
                           std::string(data == 0 ? "1m" : "100k") +
                           R"("}], "split": {"holdout": 0.1, "seed": )" + std::to_string(seed + 1) +
                           R"(}, "stop": {"epochs": 1}, "algorithms": [)" + algorithm + "]}";
  return spec_from(text).cases.at(0);
}

bool same(const Case& a, const Case& b, const char* section) {
  return a.resolved.at(section) == b.resolved.at(section);
}

// By the definition: the cases behind it, up to the first of another data set or split.
DoneAgain expected(const std::vector<const Case*>& cases, std::size_t i) {
  DoneAgain again;
  bool same_split = true;
  for (std::size_t k = i + 1; k < cases.size() && same(*cases[i], *cases[k], "dataset"); ++k) {
    same_split = same_split && same(*cases[i], *cases[k], "split");
    again.cut = again.cut || !same(*cases[i], *cases[k], "split");
    again.handed_over = again.handed_over || (same_split && has_own_process(*cases[k]));
    again.trained = again.trained || (same_split && trains_on_one_device(*cases[i]) &&
                                      trains_on_one_device(*cases[k]));
  }
  return again;
}

TEST(SharedCases, StreamedRatingsAreNotOnADevice) {
  const auto on_device = [](const std::string& memory) {
    return trains_on_one_device(
        case_of(0, 0, R"({"name": "als_fused", "memory": ")" + memory + R"("})"));
  };
  EXPECT_TRUE(on_device("auto"));
  EXPECT_TRUE(on_device("resident"));
  EXPECT_FALSE(on_device("streamed"));
}

TEST(DoneAgain, IsWhatTheCasesBehindItDo) {
  std::vector<Case> kinds;
  for (std::uint64_t kind = 0; kind < 4; ++kind) {
    for (const auto& algorithm : kAlgorithms)
      kinds.push_back(case_of(kind / 2, kind % 2, algorithm));
  }
  Rng rng(3);
  int cut = 0, trained = 0, handed_over = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<const Case*> cases;
    for (std::uint64_t k = rng.below(9); k > 0; --k)
      cases.push_back(&kinds[rng.below(kinds.size())]);
    const auto found = done_again(cases);
    ASSERT_EQ(found.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const DoneAgain wanted = expected(cases, i);
      ASSERT_EQ(found[i].cut, wanted.cut) << round << " " << i;
      ASSERT_EQ(found[i].handed_over, wanted.handed_over) << round << " " << i;
      ASSERT_EQ(found[i].trained, wanted.trained) << round << " " << i;
      cut += wanted.cut ? 1 : 0;
      trained += wanted.trained ? 1 : 0;
      handed_over += wanted.handed_over ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 50);
  EXPECT_GT(trained, 50);
  EXPECT_GT(handed_over, 50);
}

}  // namespace
}  // namespace mf
