// Tests of several devices: their ranks are processes, a device each. CUDA does not outlive a
// fork(), so such a test is run again in a separate process, which becomes rank 0.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/core/cuda/check.hpp"
#include "algorithms/core/ranks/nccl_library.hpp"
#include "base/ranks/communicator.hpp"
#include "base/ranks/local_ranks.hpp"
#include "testing/cuda/testing.hpp"
#include "testing/failure_pipe.hpp"

namespace mf::cuda {

// Not to be asked for in a process of its own before the ranks are there.
inline int count_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

inline std::string current_test() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->test_suite_name()) + "." + test->name();
}

// The failures of this test so far, in this process.
inline std::string failures_here() {
  const auto& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  std::string text;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const auto& part = result.GetTestPartResult(i);
    if (!part.failed()) continue;
    text += std::string(part.file_name() != nullptr ? part.file_name() : "?") + ":" +
            std::to_string(part.line_number()) + ": " + part.summary() + "\n";
  }
  return text;
}

inline void run_in_own_process() {
  const std::string filter = "--gtest_filter=" + current_test();
  std::vector<char*> arguments = {const_cast<char*>("test"), const_cast<char*>(filter.c_str()),
                                  nullptr};
  ::setenv(kOwnProcess, "1", 1);
  for (const char* shard : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(shard);
  set_nccl_defaults();
  pid_t process = 0;
  const int code =
      ::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ);
  ::unsetenv(kOwnProcess);
  ASSERT_EQ(code, 0) << "posix_spawn";
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << current_test() << " failed in its own process: above";
}

using RankBody = std::function<void(Communicator&)>;

// Runs `body` in `count` processes, each with a device; what fails in one of them fails the test,
// and too few devices skip it.
// The last of a test. `all_end`: false where ranks are to end within it; what has failed in those
// that do not end so is told all the same.
inline void in_ranks(int count, const RankBody& body, bool all_end = true) {
  if (!has_own_process()) {
    if (count_devices() >= count) return run_in_own_process();
    GTEST_SKIP() << "needs " << count << " CUDA devices, found " << count_devices();
  }
  FailurePipe pipe;
  const auto links = start_local_ranks(count);
  Communicator ranks(links);
  try {
    MF_CUDA(cudaSetDevice(ranks.rank()));
    body(ranks);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << ranks.rank() << ": " << error.what();
    ranks.announce({ranks.rank(), ErrorKind::io, error.what()});
    all_end = false;
  }
  if (all_end) {
    try {
      ranks.barrier();  // a rank that is gone is a fault to those that go on
    } catch (const std::exception& error) {
      ADD_FAILURE() << "the ranks did not end together: " << error.what();
    }
  }
  if (!ranks.leads()) {
    const std::string failures = failures_here();
    if (!failures.empty()) pipe.tell("rank " + std::to_string(ranks.rank()) + ": " + failures);
    MF_CUDA(cudaDeviceSynchronize());
    ::_exit(0);
  }
  const std::string failures = pipe.told();
  if (!failures.empty()) ADD_FAILURE() << failures;
}

}  // namespace mf::cuda
