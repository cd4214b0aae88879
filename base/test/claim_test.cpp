#include "base/files/claim.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "base/json/json.hpp"
#include "testing/temp_folder.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::read_file;
using test::write_file;

// That of a process whose limit is over.
constexpr Patience kNone{.seconds = 0};

struct Place {
  TempFolder folder;
  ClaimFolder claims{folder.path(), "this spec"};

  std::string file(const std::string& key) const { return folder / (".claim-" + key); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
  }
};

// A claim of the process that `own_process` is with changes.
void write_claim(const std::string& path, const ProcessId& process, const std::string& token) {
  const Json json = {{"host", process.host}, {"boot", process.boot},   {"space", process.space},
                     {"pid", process.pid},   {"begin", process.begin}, {"token", token},
                     {"about", "this spec"}};
  write_file(path, json.dump());
}

ProcessId elsewhere() {
  ProcessId process = own_process();
  process.host = "n017";
  process.boot = "another";
  return process;
}

// The number of a process that has taken the claim and ended without a word.
pid_t ended_with(const std::string& folder, const std::string& key) {
  const pid_t child = ::fork();
  if (child == 0) {
    const ClaimFolder claims(folder, "this spec");
    const auto claim = claims.take(key);
    ::_exit(claim ? 0 : 1);
  }
  return child;
}

struct Claims : ::testing::Test {
  const Place place;
};

TEST_F(Claims, IsHeldByOneUntilItIsReleased) {
  auto claim = place.claims.take("a");
  ASSERT_TRUE(claim);
  EXPECT_FALSE(place.claims.take("a"));
  EXPECT_TRUE(place.claims.take("b"));
  const auto holder = place.claims.holder("a");
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->process.pid, ::getpid());
  EXPECT_EQ(holder->about, "this spec");
  EXPECT_TRUE(holder->runs.value_or(false) && !holder->is_free(kNone));
  EXPECT_HAS(holder->process.to_text(), "process " + std::to_string(::getpid()) + " on ");
  EXPECT_TRUE(place.claims.holders().empty()) << "its own";
  claim.reset();
  EXPECT_FALSE(place.claims.holder("a"));
  EXPECT_EQ(place.files(), 0U);
}

TEST_F(Claims, OfAProcessThatHasEndedIsTakenAtOnce) {
  const pid_t child = ended_with(place.folder.path(), "a");
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_status, 0);
  EXPECT_TRUE(place.claims.holder("a")->is_free({})) << "no one has asked for its end yet";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto claim = place.claims.take("a");
  ASSERT_TRUE(claim && claim->is_held());
  EXPECT_EQ(place.claims.holder("a")->process.pid, ::getpid());
  EXPECT_EQ(place.files(), 1U);
}

TEST_F(Claims, OfALaterProcessWithTheSameNumberIsTaken) {
  ProcessId earlier = own_process();
  earlier.begin += "0";
  write_claim(place.file("a"), earlier, "t");
  EXPECT_TRUE(place.claims.take("a"));
}

TEST_F(Claims, OfAProcessThatCannotBeSeenIsFreeToThePatient) {
  ProcessId boxed = own_process();
  boxed.space = "pid:[1]";
  for (const ProcessId& process : {elsewhere(), boxed}) {
    const Place other;
    write_claim(other.file("a"), process, "t");
    EXPECT_FALSE(other.claims.take("a"));
    EXPECT_FALSE(other.claims.take("a", {.seconds = 60}));
    const std::int64_t made = other.claims.holder("a")->made_ns;
    EXPECT_FALSE(other.claims.take("a", {.made_before_ns = made})) << "as old as the run";
    ASSERT_EQ(other.claims.holders().size(), 1U);
    EXPECT_EQ(other.claims.holders()[0].process, process);
    EXPECT_TRUE(other.claims.take("a", {.made_before_ns = made + 1}));
    write_claim(other.file("a"), process, "u");
    EXPECT_FALSE(other.claims.take("a", {.seconds = 0.02})) << "another claim, seen first now";
    while (!other.claims.take("a", {.seconds = 0.02})) std::this_thread::yield();
    EXPECT_EQ(other.files(), 0U);
  }
}

TEST_F(Claims, DatedTomorrowIsOlderThanEveryRun) {
  const auto date = [&](std::chrono::hours ahead) {
    write_claim(place.file("a"), elsewhere(), "t");
    fs::last_write_time(place.file("a"), fs::file_time_type::clock::now() + ahead);
  };
  const std::int64_t now = place.claims.now_ns();
  date(std::chrono::hours(24));
  EXPECT_FALSE(place.claims.take("a")) << "it may run";
  EXPECT_TRUE(place.claims.take("a", {.made_before_ns = now}));
  date(std::chrono::hours(0));
  EXPECT_FALSE(place.claims.take("a", {.made_before_ns = now})) << "it began after the run";
}

TEST_F(Claims, OfAProcessThatRunsIsFreeToNoOne) {
  const auto claim = place.claims.take("a");
  EXPECT_FALSE(place.claims.take("a", {.seconds = 0, .made_before_ns = INT64_MAX}));
}

TEST_F(Claims, WithoutItsTextIsOfAProcessThatCannotBeSeen) {
  write_file(place.file("a"), "");
  EXPECT_FALSE(place.claims.take("a"));
  EXPECT_HAS(place.claims.holder("a")->process.to_text(), "has not said its name");
  EXPECT_TRUE(place.claims.take("a", kNone));
}

TEST_F(Claims, OfAStrangerLeadsNowhere) {
  ProcessId stranger = elsewhere();
  stranger.host = "n\x1b[31m";
  write_claim(place.file("a"), stranger, "/../out");
  const auto holder = place.claims.holder("a");
  EXPECT_EQ(holder->token, "none");
  EXPECT_EQ(holder->process.to_text().find('\x1b'), std::string::npos);
  EXPECT_TRUE(place.claims.take("a", kNone));
}

TEST_F(Claims, OfManyThatTakeOneOverOneGetsIt) {
  for (int round = 0; round < 30; ++round) {
    write_claim(place.file("a"), elsewhere(), "t");
    std::vector<std::unique_ptr<ClaimFolder>> claims;
    std::vector<std::unique_ptr<Claim>> taken(8);
    std::vector<std::thread> takers;
    for (auto& one : taken) {
      const auto& folder =
          claims.emplace_back(std::make_unique<ClaimFolder>(place.folder.path(), ""));
      const std::int64_t later = folder->holder("a")->made_ns + 1;
      takers.emplace_back(
          [&one, later, from = folder.get()] { one = from->take("a", {.made_before_ns = later}); });
    }
    for (auto& taker : takers) taker.join();
    ASSERT_EQ(std::ranges::count_if(taken, [](const auto& one) { return one != nullptr; }), 1);
    ASSERT_EQ(place.files(), 1U);
    taken.clear();
    ASSERT_EQ(place.files(), 0U);
  }
}

TEST_F(Claims, OfOneThatEndedWhileItTookOverIsTaken) {
  write_claim(place.file("a"), elsewhere(), "t");
  write_claim(place.file("a") + "~t", elsewhere(), "u");
  EXPECT_FALSE(place.claims.take("a", {.seconds = 0.02})) << "seen first now";
  std::unique_ptr<Claim> claim;
  while (!claim) claim = place.claims.take("a", {.seconds = 0.02});
  EXPECT_TRUE(claim->is_held());
  EXPECT_EQ(place.files(), 1U);
}

TEST_F(Claims, ThatIsAnothersNowIsLostAndLeft) {
  {
    const auto claim = place.claims.take("a");
    write_claim(place.folder / "new", elsewhere(), "t");
    fs::rename(place.folder / "new", place.file("a"));
    EXPECT_FALSE(claim->is_held());
  }
  EXPECT_HAS(read_file(place.file("a")), "n017");
}

TEST_F(Claims, FollowsNoLink) {
  fs::create_symlink("elsewhere", place.file("a"));
  EXPECT_HAS(error_of([&] { place.claims.take("a"); }).what(), ".claim-a: cannot be read");
  EXPECT_FALSE(fs::exists(place.folder / "elsewhere"));
}

TEST(ProcessId, AProcessRunsUntilItEnds) {
  EXPECT_EQ(is_running(own_process()), true);
  ProcessId other = own_process();
  other.boot = "another";
  EXPECT_EQ(is_running(other), std::nullopt);
  EXPECT_FALSE(own_process().begin.empty());
  const std::vector<char> more(std::size_t{1} << 24, 'x');
  EXPECT_EQ(is_running(own_process()), true)
      << more.size() << " bytes more do not change its begin";
}

}  // namespace
}  // namespace mf
