// Run again under mpirun, as ranks of which each is this test.
#include "base/ranks/mpi_ranks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/ranks/rank_links.hpp"

namespace mf {
namespace {

bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

struct Ended {
  int status;
  std::string output;
};

Ended run_in_ranks(int count) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format(
      "timeout -k 1 30 mpirun {} --oversubscribe --bind-to none -n {} '{}' --gtest_filter={}.{} "
      "2>&1 </dev/null",
      ::geteuid() == 0 ? "--allow-run-as-root" : "", count, program, test->test_suite_name(),
      test->name());
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen"};
  Ended ended;
  for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) {
    ended.output += static_cast<char>(byte);
  }
  ended.status = ::pclose(pipe);
  return ended;
}

void expect_fine_in_ranks(int count) {
  const Ended ended = run_in_ranks(count);
  EXPECT_EQ(ended.status, 0) << ended.output;
}

#define REQUIRE_MPI()                                                       \
  if (mpi_version().empty()) GTEST_SKIP() << "this build has no MPI";       \
  if (!has_mpirun()) GTEST_SKIP() << "there is no mpirun (./dev deps mpi)"; \
  static_assert(true)

// Four ranks take longer than the patience of rank 0, but no rank as long after another.
TEST(MpiRanks, AreWaitedForAsLongAsSomethingMoves) {
  REQUIRE_MPI();
  if (launched_count() == 1) return expect_fine_in_ranks(4);
  constexpr double kPatience = 2;
  const auto links = join_mpi_ranks();
  std::vector<int> values(links->size(), 0);
  if (links->rank() == 0) {
    std::vector<Incoming> receives;
    for (int other = 1; other < links->size(); ++other) {
      receives.push_back({other, &values[other], sizeof(int)});
    }
    links->exchange({}, receives, kPatience);
    EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3}));
  } else {
    const int own = links->rank();
    std::this_thread::sleep_for(std::chrono::duration<double>(0.45 * kPatience * own));
    const Outgoing one = {0, &own, sizeof(int)};
    links->exchange({&one, 1}, {}, 0);
  }
}

// After it rank 0 ends all, so that each has only the result that it has said.
TEST(MpiRanks, TheOneThatIsWaitedForIsNamed) {
  REQUIRE_MPI();
  if (launched_count() == 1) {
    const Ended ended = run_in_ranks(3);
    EXPECT_NE(ended.output.find("FOUND rank 2: was waited for 1 s"), std::string::npos)
        << ended.output;
    return;
  }
  const auto links = join_mpi_ranks();
  int own = links->rank();
  std::vector<int> values(3, 0);
  const Outgoing send = {0, &own, sizeof(int)};
  const Incoming never = {0, values.data(), sizeof(int)};
  if (own == 1) return links->exchange({&send, 1}, {}, 0);
  if (own == 2) return links->exchange({}, {&never, 1}, 0);
  const std::vector<Incoming> both = {{1, &values[1], sizeof(int)}, {2, &values[2], sizeof(int)}};
  try {
    links->exchange({}, both, 1);
  } catch (const RankFault& fault) {
    fmt::print("FOUND {}\n", fault.what());
    std::fflush(stdout);
  }
}

TEST(MpiRanks, WhatIsLongGoesInPieces) {
  REQUIRE_MPI();
  if (launched_count() == 1) return expect_fine_in_ranks(2);
  const auto links = join_mpi_ranks();
  std::vector<int> numbers((16 << 20) + 3);  // a piece and a little
  const auto value = [](std::size_t k) { return static_cast<int>(k * 2654435761U); };
  if (links->rank() == 0) {
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = value(k);
    const Outgoing one = {1, numbers.data(), std::ssize(numbers) * 4};
    return links->exchange({&one, 1}, {}, 0);
  }
  const Incoming one = {0, numbers.data(), std::ssize(numbers) * 4};
  links->exchange({}, {&one, 1}, 0);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) wrong += numbers[k] != value(k) ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace mf
