#include "base/timeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/thread_range.hpp"
#include "base/threads.hpp"
#include "testing/temp_folder.hpp"

namespace mf {
namespace {

TEST(Timeline, ManyThreadsLoseNothingAndTeamsThatFollowOneAnotherShareTracks) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  constexpr int kRounds = 1000;
  {
    const Timeline timeline(path);
    EXPECT_EQ(Timeline::current(), &timeline);
    for (int i = 0; i < 2; ++i) {
      ThreadTeam(3).run([&](int) {
        for (int k = 0; k < kRounds; ++k) const ThreadRange range("inner");
      });
    }
  }
  EXPECT_EQ(Timeline::current(), nullptr);
  std::map<int, int> counts[2];
  std::set<std::string> names;
  for (const auto& event : read_json_file(path)) {
    if (event["ph"] == "B") ++counts[0][event["tid"]];
    if (event["ph"] == "E") ++counts[1][event["tid"]];
    if (event.value("name", "") == "thread_name") names.insert(event["args"]["name"]);
  }
  EXPECT_EQ(names, (std::set<std::string>{"main", "worker 1", "worker 2"}));
  EXPECT_EQ(counts[0], counts[1]);
  ASSERT_EQ(counts[0].size(), 3U);
  for (const auto& [track, count] : counts[0]) EXPECT_EQ(count, 2 * (kRounds + 1)) << track;
}

TEST(Timeline, NamesAreTextOfJsonWhateverTheyAre) {
  const TempFolder folder;
  const std::string path = folder / "t.json";
  {
    Timeline timeline(path);
    timeline.begin("a \"quoted\"\n\xff");
    timeline.end();
    timeline.device_range("stream", "kernel", Clock::now(), 0.5, 0.25);
    EXPECT_EQ(timeline.flush(), "");
  }
  std::set<std::string> kinds;
  for (const auto& event : read_json_file(path)) {
    kinds.insert(event["ph"]);
    if (event["ph"] == "X") {
      EXPECT_EQ(event["dur"], 250000);
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"M", "B", "E", "X"}));
}

TEST(Timeline, AFileThatCannotBeWrittenIsNamed) {
  const TempFolder folder;
  EXPECT_THROW(Timeline(folder / "no/c.json"), Error);
  EXPECT_EQ(Timeline::current(), nullptr);
  const ThreadRange range("no listener");
}

}  // namespace
}  // namespace mf
