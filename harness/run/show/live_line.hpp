// The line of a running case on a terminal: how far it is, how long it will still take, what it has
// come to. All of it fits the terminal, however narrow: what matters less gives way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace mf {

struct LiveState {
  std::string count;                 // "[2/9]": which case of how many
  std::string name;                  // of the case; is cut where there is no room
  double share = 0;                  // of its epochs that are done, 0 to 1
  std::optional<double> left_s;      // nothing before the first epoch has ended
  std::vector<std::string> details;  // what matters most first
};

// At most `columns` characters, on one line:
//   [2/9] fpsgd-f100-ml-1m..  [#####.....]  left    0:42  epoch 10/20  rmse 0.8712
std::string live_line(const LiveState& state, std::size_t columns);

// Of UTF-8: never cut within a character.
std::string first_columns(const std::string& text, std::size_t columns);

// 0:07, 12:05, 1:02:03, 99 days; up to the next second, so that 0:00 is the end.
std::string format_left(std::optional<double> seconds);

}  // namespace mf
