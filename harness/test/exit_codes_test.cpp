// Every exit code that docs/spec.md lists, from the command line as main() calls it: a code without
// a way to it here fails, and so does a way whose code the page does not have.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include "algorithms/core/registry.hpp"
#include "harness/cli.hpp"
#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::TempFolder;

// Fails in its first epoch as told, or when a plan tries it.
class Breaker : public Algorithm {
 public:
  explicit Breaker(const Params& params) : how_(params.choice("how")) {}
  void prepare(const Ratings& train, const Model& initial, Context&) override {
    if (how_ == "unsupported") fail(ErrorKind::unsupported, "this CPU lacks it");
    nnz_ = train.nnz();
    model_ = initial;
  }
  std::int64_t run_epoch(const EpochArgs&, Context&) override {
    if (how_ == "device") fail(ErrorKind::device, "the device fell off the bus");
    if (how_ == "error") throw std::logic_error("a bug");
    if (how_ == "hangup") std::raise(SIGHUP);
    if (how_ == "interrupt") std::raise(SIGINT);
    if (how_ == "terminate") std::raise(SIGTERM);
    return nnz_;
  }
  FactorView factors() override { return model_.view(); }
  Work work_per_epoch() const override { return {}; }

 private:
  std::string how_;
  std::int64_t nnz_ = 0;
  Model model_;
};

AlgorithmInfo breaker_info() {
  AlgorithmInfo info;
  info.name = "breaker";
  info.family = "test";
  info.params = {ParamSpec::integer("factors", 2, 1, 1024, ""),
                 ParamSpec::choice("how", "not",
                                   {"not", "device", "error", "hangup", "interrupt", "terminate",
                                    "unforeseen", "unsupported", "memory"},
                                   "")};
  info.memory = [](const Params& params) {
    if (params.choice("how") == "unforeseen") throw std::logic_error("nobody thought of it");
    if (params.choice("how") == "memory") throw std::bad_alloc();
    return MemoryUse{};
  };
  return info;
}

const RegisterInfo registered(breaker_info());
const RegisterFactory registered_factory("breaker", [](const Params& params) {
  return std::make_unique<Breaker>(params);
});

int mfbench(std::vector<std::string> words) {
  words.insert(words.begin(), "mfbench");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return cli_main(static_cast<int>(argv.size()), argv.data());
}

std::string write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

// A spec of the breaker in `folder`.
std::string spec_of(const std::string& folder, const std::string& how,
                    const std::string& data = R"({"like": "ml-100k", "scale": 0.05})") {
  return write(folder + "/" + how + ".json", R"({"datasets": [)" + data +
                                                 R"(], "stop": {"epochs": 3},
                   "algorithms": [{"name": "breaker", "how": ")" +
                                                 how + R"("}]})");
}

int run(const std::string& folder, const std::string& how) {
  return mfbench({"run", spec_of(folder, how), "--out", folder + "/out", "--quiet"});
}

using Way = std::function<int(const std::string& folder)>;

const std::map<int, Way>& ways() {
  static const std::map<int, Way> all = {
      {0, [](const auto& folder) { return run(folder, "not"); }},
      {1, [](const auto& folder) { return run(folder, "error"); }},
      {2, [](const auto&) { return mfbench({"run"}); }},
      {3,
       [](const auto& folder) {
         write(folder + "/bad.txt", "1 2 3\n1 x 3\n");
         return mfbench({"run", spec_of(folder, "not", R"({"path": ")" + folder + R"(/bad.txt"})"),
                         "--out", folder + "/out", "--quiet"});
       }},
      {4,
       [](const auto& folder) {
         write(folder + "/file", "");
         return mfbench({"run", spec_of(folder, "not"), "--out", folder + "/file/out"});
       }},
      {5,
       [](const auto& folder) {
         return mfbench({"plan", spec_of(folder, "unsupported")});
       }},
      {6,
       [](const auto& folder) {
         return mfbench({"plan", spec_of(folder, "memory")});
       }},
      {7, [](const auto& folder) { return run(folder, "device"); }},
      {70,
       [](const auto& folder) {
         return mfbench({"plan", spec_of(folder, "unforeseen")});
       }},
      {129, [](const auto& folder) { return run(folder, "hangup"); }},
      {130, [](const auto& folder) { return run(folder, "interrupt"); }},
      {143, [](const auto& folder) { return run(folder, "terminate"); }},
  };
  return all;
}

// The first column of the table below "## Exit codes".
std::set<int> documented() {
  std::ifstream page(MF_SOURCE_DIR "/docs/spec.md");
  std::set<int> codes;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line == "## Exit codes";
    if (here && line.starts_with("| ") && std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
      codes.insert(std::stoi(line.substr(2)));
    }
  }
  return codes;
}

TEST(ExitCodes, ThePageListsThoseThatAreReachedHere) {
  std::set<int> reached;
  for (const auto& [code, way] : ways()) reached.insert(code);
  EXPECT_EQ(documented(), reached);
}

class ExitCode : public ::testing::TestWithParam<int> {};

// In a separate process: signals and the registry of cases are of the whole process.
TEST_P(ExitCode, IsReached) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TempFolder folder;
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
        ::setenv("MFBENCH_CACHE", (folder / "cache").c_str(), 1);
        ::setenv("MFBENCH_DATA", (folder / "data").c_str(), 1);
        std::_Exit(ways().at(GetParam())(folder / ""));
      },
      ::testing::ExitedWithCode(GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(Documented, ExitCode, ::testing::ValuesIn([] {
                           std::vector<int> codes;
                           for (const auto& [code, way] : ways()) codes.push_back(code);
                           return codes;
                         }()),
                         [](const auto& code) { return std::to_string(code.param); });

}  // namespace
}  // namespace mf
