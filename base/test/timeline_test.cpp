#include "base/timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/thread_range.hpp"
#include "base/threads.hpp"
#include "testing/temp_folder.hpp"

namespace mf {
namespace {

// Events of a kind on each track that has any, by the track's name.
std::map<std::string, int> counts(const Json& events, const std::string& kind) {
  std::map<int, std::string> names;
  std::map<std::string, int> found;
  for (const auto& event : events) {
    if (event.value("name", "") == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] == kind) ++found[names.at(event["tid"])];
  }
  return found;
}

TEST(Timeline, ManyThreadsLoseNothingAlthoughBuffersFill) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  constexpr int kRounds = 3000;
  {
    const Timeline timeline(path);
    ThreadTeam team(3);
    team.run([&](int) {
      for (int i = 0; i < kRounds; ++i) const ThreadRange range("inner");
    });
  }
  const Json events = read_json_file(path);
  for (const char* kind : {"B", "E"}) {
    const auto found = counts(events, kind);
    EXPECT_EQ(found.size(), 3U);
    for (const auto& [track, count] : found) EXPECT_EQ(count, kRounds + 1) << track << kind;
  }
}

TEST(Timeline, TeamsThatFollowOneAnotherShareTracksAndThoseBesideDoNot) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  {
    const Timeline timeline(path);
    for (int i = 0; i < 3; ++i) ThreadTeam(2).run([](int) {});
    ThreadTeam first(2), second(2);
    first.run([](int) {});
    second.run([](int) {});
  }
  std::map<std::string, int> tracks;
  for (const auto& event : read_json_file(path)) {
    if (event.value("name", "") == "thread_name") ++tracks[event["args"]["name"]];
  }
  EXPECT_EQ(tracks["worker 1"], 2);
}

TEST(Timeline, NamesAreTextOfJsonWhateverTheyAre) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  {
    Timeline timeline(path);
    timeline.begin("a \"quoted\"\n\xff");
    timeline.describe_next("other", {{"x", 1}});
    timeline.begin("one");
    timeline.begin("other");
    for (int i = 0; i < 3; ++i) timeline.end();
    timeline.counter("not a number", std::nan(""));
    timeline.device_range("stream", "kernel", Clock::now(), 0.5, 0.25);
  }
  const Json events = read_json_file(path);
  std::set<std::string> kinds;
  for (const auto& event : events) {
    kinds.insert(event["ph"]);
    EXPECT_EQ(event["ph"] == "B" && event.contains("args"), event.value("name", "") == "other");
    if (event["ph"] == "X") {
      EXPECT_EQ(event["dur"], 250000);
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"M", "B", "E", "X"}));
}

TEST(Timeline, ThereIsOneOfAProcessAndNoneAfterIt) {
  const TempFolder folder;
  {
    const Timeline timeline(folder / "a.json");
    EXPECT_EQ(Timeline::current(), &timeline);
    EXPECT_THROW(Timeline(folder / "b.json"), Error);
    EXPECT_THROW(Timeline(folder / "a.json"), Error) << "and does not empty the other's file";
  }
  EXPECT_GT(read_json_file(folder / "a.json").size(), 0U);
  EXPECT_EQ(Timeline::current(), nullptr);
  const ThreadRange range("nobody listens");
  EXPECT_THROW(Timeline(folder / "no/c.json"), Error);
}

}  // namespace
}  // namespace mf
