#include "base/files/claim.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
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

constexpr double kLease_s = 60;

struct Place {
  TempFolder folder;
  ClaimFolder claims{folder.path(), "this spec", kLease_s};

  std::string file(const std::string& key) const { return folder / (".claim-" + key); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
  }
};

// A claim of the process that `own_process` is with changes.
void write_claim(const std::string& path, const ProcessId& process, const std::string& token) {
  const Json json = {{"host", process.host}, {"boot", process.boot},   {"space", process.space},
                     {"pid", process.pid},   {"begin", process.begin}, {"token", token},
                     {"lease_s", kLease_s},  {"about", "this spec"}};
  write_file(path, json.dump());
}

ProcessId elsewhere() {
  ProcessId process = own_process();
  process.host = "n017";
  process.boot = "another";
  return process;
}

void set_age(const std::string& path, double seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() -
                                std::chrono::milliseconds(static_cast<int>(1000 * seconds)));
}

// The number of a process that has taken the claim and ended without a word.
pid_t ended_with(const std::string& folder, const std::string& key) {
  const pid_t child = ::fork();
  if (child == 0) {
    const ClaimFolder claims(folder, "this spec", kLease_s);
    const auto claim = claims.take(key);
    ::_exit(claim ? 0 : 1);
  }
  return child;
}

TEST(Claim, IsHeldByOneUntilItIsReleased) {
  const Place place;
  auto claim = place.claims.take("a");
  ASSERT_TRUE(claim);
  EXPECT_FALSE(place.claims.take("a"));
  EXPECT_TRUE(place.claims.take("b"));
  const auto holder = place.claims.holder("a");
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->process.pid, ::getpid());
  EXPECT_EQ(holder->about, "this spec");
  EXPECT_TRUE(holder->here && holder->runs.value_or(false) && !holder->ended);
  EXPECT_HAS(holder->process.to_text(), "process " + std::to_string(::getpid()) + " on ");
  EXPECT_TRUE(place.claims.holders().empty()) << "its own";
  claim.reset();
  EXPECT_FALSE(place.claims.holder("a"));
  EXPECT_EQ(place.files(), 0U);
}

TEST(Claim, OfAProcessThatHasEndedIsTakenAtOnce) {
  const Place place;
  const pid_t child = ended_with(place.folder.path(), "a");
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_status, 0);
  EXPECT_TRUE(place.claims.holder("a")->ended) << "no one has asked for its end yet";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto claim = place.claims.take("a");
  ASSERT_TRUE(claim && claim->is_held());
  EXPECT_EQ(place.claims.holder("a")->process.pid, ::getpid());
  EXPECT_EQ(place.files(), 1U);
}

TEST(Claim, OfALaterProcessWithTheSameNumberIsTaken) {
  const Place place;
  ProcessId earlier = own_process();
  earlier.begin += "0";
  write_claim(place.file("a"), earlier, "t");
  EXPECT_TRUE(place.claims.take("a"));
}

TEST(Claim, OfAnotherMachineLastsForItsLease) {
  const Place place;
  write_claim(place.file("a"), elsewhere(), "t");
  set_age(place.file("a"), kLease_s - 5);
  EXPECT_FALSE(place.claims.take("a"));
  ASSERT_EQ(place.claims.holders().size(), 1U);
  EXPECT_FALSE(place.claims.holders()[0].here);
  EXPECT_HAS(place.claims.holders()[0].process.to_text(), "on n017");
  set_age(place.file("a"), kLease_s + 1);
  EXPECT_TRUE(place.claims.holders().empty());
  EXPECT_TRUE(place.claims.take("a"));
  EXPECT_EQ(place.files(), 0U);
}

TEST(Claim, OfAnotherContainerLastsForItsLease) {
  const Place place;
  ProcessId boxed = own_process();
  boxed.space = "pid:[1]";
  boxed.pid = 1;
  write_claim(place.file("a"), boxed, "t");
  EXPECT_FALSE(place.claims.take("a")) << "its number says nothing here";
  EXPECT_TRUE(place.claims.holder("a")->here);
  set_age(place.file("a"), kLease_s + 1);
  EXPECT_TRUE(place.claims.take("a"));
}

TEST(Claim, WithoutItsTextLastsForALease) {
  const Place place;
  write_file(place.file("a"), "");
  EXPECT_FALSE(place.claims.take("a")) << "its owner is about to write";
  EXPECT_HAS(place.claims.holder("a")->process.to_text(), "has not said its name");
  set_age(place.file("a"), kLease_s + 1);
  EXPECT_TRUE(place.claims.take("a"));
}

TEST(Claim, OfAStrangerLeadsNowhere) {
  const Place place;
  ProcessId stranger = elsewhere();
  stranger.host = "n\x1b[31m";
  write_claim(place.file("a"), stranger, "/../out");
  set_age(place.file("a"), kLease_s + 1);
  const auto holder = place.claims.holder("a");
  EXPECT_EQ(holder->token, "");
  EXPECT_EQ(holder->process.to_text().find('\x1b'), std::string::npos);
  EXPECT_TRUE(place.claims.take("a"));
}

TEST(Claim, OfManyThatTakeOneOverOneGetsIt) {
  const Place place;
  for (int round = 0; round < 30; ++round) {
    write_claim(place.file("a"), elsewhere(), "t");
    set_age(place.file("a"), kLease_s + 1);
    std::vector<std::unique_ptr<Claim>> taken(8);
    std::vector<std::thread> takers;
    for (auto& one : taken) takers.emplace_back([&] { one = place.claims.take("a"); });
    for (auto& taker : takers) taker.join();
    int count = 0;
    for (const auto& one : taken) count += one ? 1 : 0;
    ASSERT_EQ(count, 1);
    ASSERT_EQ(place.files(), 1U);
    taken.clear();
    ASSERT_EQ(place.files(), 0U);
  }
}

TEST(Claim, OfOneThatEndedWhileItTookOverIsTaken) {
  const Place place;
  write_claim(place.file("a"), elsewhere(), "t");
  set_age(place.file("a"), kLease_s + 1);
  write_claim(place.file("a") + "~t", elsewhere(), "u");
  EXPECT_FALSE(place.claims.take("a")) << "it may be alive";
  set_age(place.file("a") + "~t", kLease_s + 1);
  const auto claim = place.claims.take("a");
  EXPECT_TRUE(claim && claim->is_held());
  EXPECT_EQ(place.files(), 1U);
}

TEST(Claim, IsTouchedWhileItIsHeld) {
  const TempFolder folder;
  const ClaimFolder claims(folder.path(), "", 0.06);
  const auto touched = [&](const char* key) {
    const std::int64_t first = claims.holder(key)->touched_ns;
    while (claims.holder(key)->touched_ns == first) std::this_thread::yield();
  };
  auto first = claims.take("a");
  touched("a");
  const auto second = claims.take("b");
  touched("a");
  touched("b");
  first.reset();
  touched("b");
  EXPECT_FALSE(claims.holder("a"));
  EXPECT_FALSE(second->lost());
}

TEST(Claim, ThatIsAnothersNowIsLostAndLeft) {
  const TempFolder folder;
  const std::string path = folder / ".claim-a";
  const ClaimFolder claims(folder.path(), "", 0.06);
  {
    const auto claim = claims.take("a");
    write_claim(folder / "new", elsewhere(), "t");
    fs::rename(folder / "new", path);
    while (!claim->lost()) std::this_thread::yield();
    EXPECT_FALSE(claim->is_held());
  }
  EXPECT_HAS(read_file(path), "n017");
}

TEST(Claim, FollowsNoLink) {
  const Place place;
  fs::create_symlink("elsewhere", place.file("a"));
  EXPECT_HAS(error_of([&] { place.claims.take("a"); }).what(), ".claim-a: cannot be read");
  EXPECT_FALSE(fs::exists(place.folder / "elsewhere"));
}

TEST(ClaimWatch, TellsWhoRunsFromWhoMayHaveEnded) {
  const Place place;
  write_claim(place.file("a"), elsewhere(), "t");
  const auto own = place.claims.take("b");
  ClaimWatch watch(place.claims, {"a", "b"});
  EXPECT_EQ(watch.look(), ClaimWatch::Seen::unsure);
  EXPECT_EQ(watch.look(), ClaimWatch::Seen::unsure);
  EXPECT_EQ(watch.holder().process.host, "n017");
  set_age(place.file("a"), 1);
  EXPECT_EQ(watch.look(), ClaimWatch::Seen::held) << "it was touched";
  set_age(place.file("a"), kLease_s + 1);
  EXPECT_EQ(watch.look(), ClaimWatch::Seen::free);
}

TEST(Claim, TheLeaseIsThatOfTheEnvironment) {
  EXPECT_EQ(claim_lease_s(), 120);
  test::Environment environment;
  environment.set("MFBENCH_LEASE", "7.5");
  EXPECT_EQ(claim_lease_s(), 7.5);
  for (const char* text : {"0", "soon", "1e9", "5s"}) {
    environment.set("MFBENCH_LEASE", text);
    EXPECT_HAS(error_of([] { claim_lease_s(); }).what(),
               "MFBENCH_LEASE: found \"" + std::string(text) + "\", expected seconds from 1 to");
  }
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
