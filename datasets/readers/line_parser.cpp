#include "datasets/readers/line_parser.hpp"

#include <numeric>

#include "base/error.hpp"
#include "base/log.hpp"
#include "datasets/readers/fields.hpp"

namespace mf {
namespace {

// The text without the blank lines at its end; the newline of the last line stays.
std::string_view without_trailing_blank_lines(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  const std::size_t newline = text.find('\n', last);
  return newline == std::string_view::npos ? text : text.substr(0, newline + 1);
}

template <class T>
void move_down(AlignedVector<T>& v, std::int64_t from, std::int64_t count, std::int64_t to) {
  std::copy(v.begin() + from, v.begin() + from + count, v.begin() + to);
}

}  // namespace

ChunkedText::ChunkedText(std::string_view text, std::size_t begin, std::size_t chunk_bytes) {
  text = without_trailing_blank_lines(text);
  if (begin >= text.size()) return;
  // The last newline that has its padding in the text; the lines behind it are copied.
  const std::size_t newline =
      text.size() < kTextPadding ? text.npos : text.rfind('\n', text.size() - kTextPadding);
  const std::size_t whole = newline == text.npos ? begin : std::max(newline + 1, begin);
  for (std::size_t at = begin; at < whole;) {
    const std::size_t least = std::min(at + std::max<std::size_t>(chunk_bytes, 1), whole);
    // The last byte was one; the file may have been cut short since.
    const std::size_t end = std::min(text.find('\n', least - 1), whole - 1) + 1;
    chunks_.push_back({text.data() + at, text.data() + end, static_cast<std::int64_t>(at)});
    at = end;
  }
  tail_ = text.substr(whole);
  if (!tail_.ends_with('\n')) tail_ += '\n';
  const auto size = std::ssize(tail_);
  tail_.append(kTextPadding - 1, '\0');
  chunks_.push_back({tail_.data(), tail_.data() + size, static_cast<std::int64_t>(whole)});
}

std::int64_t count_lines(const char* begin, const char* end) {
  // Bytes are counted in bytes, at most 255 at a time, so that the inner loop is vectorised.
  std::int64_t lines = 0;
  while (begin < end) {
    constexpr std::ptrdiff_t kLanes = 64;
    if (end - begin < kLanes) return lines + std::count(begin, end, '\n');
    std::uint8_t counts[kLanes] = {};
    const std::ptrdiff_t blocks = std::min<std::ptrdiff_t>((end - begin) / kLanes, 255);
    for (std::ptrdiff_t b = 0; b < blocks; ++b, begin += kLanes) {
      for (std::ptrdiff_t k = 0; k < kLanes; ++k) {
        counts[k] = static_cast<std::uint8_t>(counts[k] + (begin[k] == '\n'));
      }
    }
    for (const std::uint8_t count : counts) lines += count;
  }
  return lines;
}

ChunkScan scan_chunk(const TextChunk& chunk, char header_mark, bool (*is_header)(const char*)) {
  ChunkScan scan;
  scan.lines = count_lines(chunk.begin, chunk.end);
  if (header_mark == '\0') return scan;
  std::string_view text(chunk.begin, chunk.end);
  for (std::size_t mark = text.rfind(header_mark); mark != text.npos;
       mark = text.rfind(header_mark)) {
    const std::size_t line = text.rfind('\n', mark) + 1;  // 0 if there is none
    if (is_header(chunk.begin + line)) {
      scan.header = chunk.begin + line;
      scan.lines_after_header = count_lines(chunk.begin + mark, chunk.end) - 1;
      return scan;
    }
    text = text.substr(0, line);
  }
  return scan;
}

void fail_more_ratings(const char* line) {
  throw LineError{line, "more ratings than before", "a file that stays as it is while it is read",
                  ""};
}

void FirstError::check(const Text& text, const std::vector<TextChunk>& chunks, IdKind ids) const {
  const auto bad = static_cast<std::size_t>(first_.load());
  if (bad == chunks.size()) return;
  const LineError& error = *errors_[bad];
  const std::int64_t at = chunks[bad].offset + (error.at - chunks[bad].begin);
  if (error.id == nullptr || ids != IdKind::automatic || !odd_line(text.view(), at).empty())
    fail_in_text(text, at, error);
  const auto* const first_end = std::find(chunks[0].begin, chunks[0].end, '\n');
  if (bad > 0 || error.at > first_end || is_digit(error.found[1]))
    note_once("{}: {}s are text: {} is not an integer from 0 to 2147483647, or has leading zeros",
              place_in_text(text, at), error.id, error.found);
  throw NamesFound{*error.id == 'u'};
}

void FirstError::warn_left_out(const Text& text, const std::vector<TextChunk>& chunks,
                               const std::vector<std::int64_t>& left_out) const {
  const auto bad = static_cast<std::size_t>(first_.load());
  if (bad == chunks.size()) return;
  try {
    check(text, chunks, IdKind::integers);
  } catch (const Error& error) {
    warn("{}: {} lines are no ratings and are left out; the first: {}", text.path,
         std::accumulate(left_out.begin(), left_out.end(), std::int64_t{0}), error.what());
  }
}

void close_gaps(RawRatings& raw, const std::vector<std::int64_t>& first,
                const std::vector<std::int64_t>& written) {
  std::int64_t to = 0;
  for (std::size_t c = 0; c < written.size(); ++c) {
    if (to != first[c]) {
      move_down(raw.users, first[c], written[c], to);
      move_down(raw.items, first[c], written[c], to);
      move_down(raw.values, first[c], written[c], to);
      if (!raw.times.empty()) move_down(raw.times, first[c], written[c], to);
    }
    to += written[c];
  }
  raw.users.resize(to);
  raw.items.resize(to);
  raw.values.resize(to);
  if (!raw.times.empty()) raw.times.resize(to);
}

}  // namespace mf
