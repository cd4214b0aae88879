// Processes that are not trusted, here by /bin/sh, and lines from them. tests/test_peers.py has
// what becomes of them in a run.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <vector>

#include "algorithms/peer/channel.hpp"
#include "algorithms/peer/process.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "testing/temp_folder.hpp"

namespace mf::peer {
namespace {

constexpr double kLong = 60;

class PeerProcess : public ::testing::Test {
 protected:
  Command shell(const std::string& script) {
    return {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "ONLY=this"}, folder_ / "", log_};
  }
  std::string log() {
    std::ifstream in(log_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Ending run(const std::string& script) {
    Process process(shell(script), theirs_);
    return process.wait(kLong).value();
  }

  TempFolder folder_;
  std::string log_ = folder_ / "log";
  std::pair<FileHandle, FileHandle> ends_ = make_channel();
  FileHandle theirs_ = std::move(ends_.second);
};

TEST_F(PeerProcess, TellsHowItEnded) {
  EXPECT_EQ(run("exit 7").text(), "ended with code 7");
  EXPECT_EQ(run("kill -9 $$").signal, SIGKILL);
  EXPECT_NE(run("kill -SEGV $$").text().find("was killed by signal 11"), std::string::npos);
}

TEST_F(PeerProcess, HasWhatItIsGivenAndNothingElse) {
  setenv("MFBENCH_TEST_SECRET", "1", 1);
  // No pipe while the descriptors are looked at: the shell has its ends for a moment.
  run("env | grep -c -e SECRET; echo $ONLY; cat; pwd; "
      "for i in 4 5 6 7 8 9; do [ -e /proc/$$/fd/$i ] && echo $i; done; echo 0");
  EXPECT_EQ(log(), "0\nthis\n" + std::filesystem::canonical(folder_ / "").string() + "\n0\n");
}

TEST_F(PeerProcess, SpeaksOnDescriptorThree) {
  Channel channel(std::move(ends_.first));
  Process process(shell("echo '{\"type\": \"hello\"}' >&3; read line <&3; echo $line >&3"),
                  theirs_);
  EXPECT_EQ(channel.receive([] { return true; }), "{\"type\": \"hello\"}");
  EXPECT_TRUE(channel.send({{"type", "end"}}));
  EXPECT_EQ(channel.receive([] { return true; }), "{\"type\":\"end\"}");
}

// With what it has started, also where that has left its group.
TEST_F(PeerProcess, EndsWhole) {
  pid_t in_group = 0, outside = 0;
  {
    Process process(shell("sleep 1000 & echo $!; setsid sleep 1000 & sleep .1; "
                          "cat /proc/$!/stat | cut -d' ' -f1; echo done; wait"),
                    theirs_);
    for (int i = 0; i < 6000 && log().find("done") == std::string::npos; ++i) usleep(10'000);
    std::ifstream in(log_);
    in >> in_group >> outside;
    EXPECT_GT(process.use().resident_bytes, 0);
  }
  ASSERT_GT(in_group, 1);
  ASSERT_GT(outside, 1);
  // A process that is gone, or one that nobody has waited for yet.
  const auto gone = [](pid_t pid) {
    for (int i = 0; i < 500; ++i, usleep(10'000)) {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string text((std::istreambuf_iterator<char>(stat)), {});
      if (text.empty() || text.find(") Z") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(gone(in_group));
  EXPECT_TRUE(gone(outside));
}

// The system hands the peak of who starts a process down to it.
TEST_F(PeerProcess, HasAPeakOfItsOwn) {
  const std::vector<char> large(200 << 20, 1);
  Process process(shell("read line <&3"), theirs_);
  while (process.use().resident_bytes == 0) usleep(1000);
  process.use();
  ASSERT_EQ(::send(ends_.first.fd(), "\n", 1, 0), 1);
  ASSERT_TRUE(process.wait(10));
  EXPECT_GT(process.peak_bytes(), 0);
  EXPECT_LT(process.peak_bytes(), 100 << 20) << large.size();
}

TEST_F(PeerProcess, SaysWhatCannotBeStarted) {
  Command command = shell("");
  command.arguments[0] = "/nowhere/python3";
  try {
    const Process process(command, theirs_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("/nowhere/python3: cannot be started"), 0U);
  }
}

TEST(PeerChannel, CutsLinesAndRefusesLongOnes) {
  auto [own, theirs] = make_channel();
  Channel channel(std::move(own));
  const auto say = [&, fd = theirs.fd()](const std::string& text) {
    ASSERT_EQ(::send(fd, text.data(), text.size(), 0), std::ssize(text));
  };
  say("one\ntw");
  EXPECT_EQ(channel.receive([] { return true; }), "one");
  int watched = 0;
  EXPECT_EQ(channel.receive([&] { return ++watched < 2; }), std::nullopt);
  EXPECT_EQ(watched, 2);
  say("o\n");
  EXPECT_EQ(channel.receive([] { return true; }), "two");
  say(std::string(kLongestLine + 10, 'x'));
  EXPECT_THROW(channel.receive([] { return true; }), Error);
  theirs = FileHandle();
  EXPECT_FALSE(channel.send({{"type", "end"}}));
}

}  // namespace
}  // namespace mf::peer
