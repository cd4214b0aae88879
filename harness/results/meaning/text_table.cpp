#include "harness/results/meaning/text_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/terminal.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

constexpr std::size_t kBetween = 2;
constexpr std::size_t kLeastName = 12;
// Headings begin so; the first is left out first, but after the data set if all lines have one.
constexpr auto kLess = std::to_array<std::string_view>(
    {"best on test", "[min, max]", "last epoch", "seeds", "train", "file to model"});
// Cut if that is not enough.
constexpr std::string_view kData = "data set";
constexpr std::array<std::string_view, 2> kNames = {kData, "algorithm"};

class Table {
 public:
  Table(std::vector<Column> columns, std::vector<Cells> lines)
      : columns_(std::move(columns)), lines_(std::move(lines)) {
    for (Cells& line : lines_) {
      for (std::string& cell : line) cell = one_line(cell);
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) widths_.push_back(width_of(k));
  }

  void fit(std::size_t room) {
    if (all_alike(kData)) drop(kData, room);
    for (const auto name : kLess) drop(name, room);
    for (const auto name : kNames) shorten(name, room);
    const std::size_t last = widths_.back();  // may be cut, unlike numbers
    if (room < kAnyWidth - last) drop("file to", room + last);
  }

  std::string text(std::size_t room) const {
    Cells headings;
    for (const Column& column : columns_) headings.push_back(column.heading);
    std::string text = line_text(headings, room);
    for (const Cells& line : lines_) text += line_text(line, room);
    return text;
  }

 private:
  std::size_t width_of(std::size_t k) const {
    std::size_t most = std::max(columns_of(columns_[k].heading), columns_[k].least);
    for (const Cells& line : lines_) most = std::max(most, columns_of(line[k]));
    return most;
  }

  // For the whole table.
  std::size_t width() const {
    const std::size_t gaps = widths_.empty() ? 0 : widths_.size() - 1;
    return std::accumulate(widths_.begin(), widths_.end(), gaps * kBetween);
  }

  // The number of columns if no heading begins so.
  std::size_t find(std::string_view name) const {
    const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& column) {
      return column.heading.starts_with(name);
    });
    return static_cast<std::size_t>(found - columns_.begin());
  }

  void drop(std::string_view name, std::size_t room) {
    for (auto k = find(name); k < columns_.size() && width() > room; k = find(name)) {
      const auto at = static_cast<std::ptrdiff_t>(k);
      columns_.erase(columns_.begin() + at);
      widths_.erase(widths_.begin() + at);
      for (Cells& line : lines_) line.erase(line.begin() + at);
    }
  }

  bool all_alike(std::string_view name) const {
    const std::size_t k = find(name);
    return k < columns_.size() && std::all_of(lines_.begin(), lines_.end(), [&](const Cells& line) {
             return line[k] == lines_.front()[k];
           });
  }

  void shorten(std::string_view name, std::size_t room) {
    const std::size_t k = find(name), all = width();
    if (k == columns_.size() || all <= room) return;
    const std::size_t mine = widths_[k], over = all - room;
    for (Cells& line : lines_) {
      line[k] = cut_to(line[k], std::max(kLeastName, mine - std::min(mine, over)));
    }
    widths_[k] = width_of(k);
  }

  std::string line_text(const Cells& cells, std::size_t room) const {
    std::string text;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string blanks(widths_[k] - columns_of(cells[k]), ' ');
      if (k > 0) text += std::string(kBetween, ' ');
      text += columns_[k].left ? cells[k] + blanks : blanks + cells[k];
    }
    return cut_to(text.substr(0, text.find_last_not_of(' ') + 1), room) + "\n";
  }

  std::vector<Column> columns_;
  std::vector<Cells> lines_;
  std::vector<std::size_t> widths_;  // of columns_
};

}  // namespace

std::string table_text(std::vector<Column> columns, std::vector<Cells> lines, std::size_t room) {
  Table table(std::move(columns), std::move(lines));
  table.fit(room);
  return table.text(room);
}

}  // namespace mf
