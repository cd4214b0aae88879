#include "base/host/system_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/files/files.hpp"

namespace mf {

std::string system_text(const std::string& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!file) return text;
  std::array<char, 8192> piece;
  for (;;) {
    const auto count = ::read(file.fd(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_in(std::string_view line, const char* between) {
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(between); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(between, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(between, end);
  }
  return words;
}

void for_system_lines(const std::string& path,
                      const std::function<void(std::string_view)>& action) {
  const std::string text = system_text(path);
  for (const auto line : lines_in(text)) action(line);
}

}  // namespace mf
