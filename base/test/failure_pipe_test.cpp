#include "testing/failure_pipe.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace mf {
namespace {

TEST(FailurePipe, TellsWhatEachHasToldHoweverItEnds) {
  FailurePipe pipe;
  const std::string much(1 << 18, 'x');  // more than a pipe holds
  for (const int number : {1, 2, 3}) {
    const pid_t process = ::fork();
    ASSERT_GE(process, 0);
    if (process > 0) continue;
    if (number == 1) pipe.tell(much);
    if (number == 2) pipe.tell("two\n");
    if (number == 3) ::raise(SIGKILL);
    ::_exit(0);
  }
  const std::string told = pipe.told();
  EXPECT_EQ(told.size(), much.size() + 4);
  EXPECT_NE(told.find("two\n"), std::string::npos);
  for (int ended = 0; ended < 3; ++ended) ::wait(nullptr);
}

}  // namespace
}  // namespace mf
