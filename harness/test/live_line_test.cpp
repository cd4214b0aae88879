#include "harness/run/show/live_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mf {
namespace {

const LiveState kState{"[2/9]",
                       "fpsgd-f100-ml-1m-look-alike-s1-cd6f0e193f",
                       0.5,
                       41.2,
                       {"epoch 10/20", "rmse 0.8712", "31.2 M updates/s"}};

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned>(c) & 0xC0U) != 0x80U;
  }));
}

TEST(LiveLine, HasAllOnAWideTerminal) {
  EXPECT_EQ(live_line(kState, 140),
            "[2/9] fpsgd-f100-ml-1m-look-alike-s1-cd6f0e193f  [###############...............]  "
            "left    0:42  epoch 10/20  rmse 0.8712  31.2 M updates/s");
}

TEST(LiveLine, KeepsBarAndTimeOnANarrowOne) {
  EXPECT_EQ(live_line(kState, 79),
            "[2/9] fpsgd-f100-ml-1m-..  [#####.....]  left    0:42  epoch 10/20  rmse 0.8712");
  EXPECT_EQ(live_line(kState, 39), "[2/9] fps..  [#####.....]  left    0:42");
  EXPECT_EQ(live_line(kState, 33), "[2/9]  [#####.....]  left    0:42");
}

TEST(LiveLine, NeverPassesTheEdge) {
  LiveState state = kState;
  for (const std::string name :
       {"", "f", "\xc3\xa4\xc3\xb6\xc3\xbc-\xe6\x95\xb0\xe6\x8d\xae", "a\x1b[2Jb\nc"}) {
    state.name = name;
    for (std::size_t columns = 0; columns < 200; ++columns) {
      const std::string line = live_line(state, columns);
      EXPECT_LE(columns_of(line), columns) << name;
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
      EXPECT_EQ(line.find('\n'), std::string::npos);
      if (columns >= 33) {
        EXPECT_NE(line.find("left    0:42"), std::string::npos) << columns;
      }
    }
  }
}

TEST(LiveLine, TellsTheTimeLeft) {
  EXPECT_EQ(format_left(std::nullopt), "?");
  EXPECT_EQ(format_left(0.0), "0:00");
  EXPECT_EQ(format_left(0.2), "0:01");
  EXPECT_EQ(format_left(59.5), "1:00");
  EXPECT_EQ(format_left(3599.5), "1:00:00");
  EXPECT_EQ(format_left(3723), "1:02:03");
  EXPECT_EQ(format_left(1e6), "12 days");
  EXPECT_EQ(format_left(1.0 / 0.0), "?");
}

}  // namespace
}  // namespace mf
