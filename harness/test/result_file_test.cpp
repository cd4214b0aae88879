#include "harness/result_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "harness/test/testing.hpp"

namespace mf {
namespace {

using testing::contains;
using testing::message_of;
using testing::TempFolder;

TEST(ResultFile, IsReadBackAsWritten) {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
  {
    ResultWriter writer(path);
    writer.append({{"type", "header"}, {"case_id", "a"}});
    writer.append({{"type", "trace"}, {"epoch", 0}});
    writer.append({{"type", "trace"}, {"epoch", 1}});
    EXPECT_FALSE(read_result_file(path)->finished()) << "lines are flushed as they come";
    EXPECT_EQ(read_result_file(path)->trace.size(), 2u);
    writer.append({{"type", "footer"}, {"status", "completed"}});
  }
  const auto file = read_result_file(path);
  ASSERT_TRUE(file && file->finished());
  EXPECT_EQ(file->header["case_id"], "a");
}

TEST(ResultFile, ALineCutInTheMiddleIsNotUsed) {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
  std::ofstream(path) << "{\"type\": \"header\"}\n{\"type\": \"trace\", \"epoch\": 1}\n"
                      << "{\"type\": \"footer\", \"status\": \"comp";
  const auto file = read_result_file(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->trace.size(), 1u);
  EXPECT_FALSE(file->finished());
  // Even a last line that happens to parse was not written to its end.
  std::ofstream(path) << "{\"type\": \"header\"}\n{\"type\": \"footer\"}";
  EXPECT_FALSE(read_result_file(path)->finished());
  std::ofstream(path) << "garbage\n";
  EXPECT_FALSE(read_result_file(path));
}

TEST(ResultFile, IsSetAsideUnderTheFirstFreeName) {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
  for (int n = 1; n <= 2; ++n) {
    std::ofstream(path) << n;
    EXPECT_EQ(set_aside(path), path + ".partial-" + std::to_string(n));
  }
}

// A limit of the process stands in for a full disk: the same write(2) fails.
TEST(ResultFile, AFullDiskIsAnErrorAndKeepsTheEarlierLines) {
  const TempFolder folder;
  const std::string path = folder / "a.jsonl";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {600, 600};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ResultWriter writer(path);
    writer.append({{"type", "header"}, {"case_id", "a"}});
    std::string message;
    for (int i = 0; i < 100 && message.empty(); ++i) {
      try {
        writer.append({{"type", "trace"}, {"epoch", i}, {"text", std::string(40, 'x')}});
      } catch (const Error& error) {
        message = error.what();
      }
    }
    ::_exit(contains(message, "a.jsonl: cannot be written") && contains(message, "kept") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text.back(), '\n') << "no torn line stays";
  EXPECT_GT(read_result_file(path)->trace.size(), 3u);
}

TEST(FolderLock, RefusesASecondRunAndAFileInTheWay) {
  const TempFolder folder;
  const FolderLock lock(folder / "runs");
  EXPECT_TRUE(
      contains(message_of([&] { FolderLock second(folder / "runs"); }), "another mfbench run"));
  std::ofstream(folder / "file") << "x";
  const std::string message = message_of([&] { FolderLock third(folder / "file/runs"); });
  EXPECT_TRUE(contains(message, "cannot be created") && contains(message, "--out")) << message;
}

TEST(NumberOrNull, JsonHasNoNaN) {
  EXPECT_TRUE(number_or_null(std::nan("")).is_null());
  EXPECT_EQ(number_or_null(1.5), 1.5);
}

}  // namespace
}  // namespace mf
