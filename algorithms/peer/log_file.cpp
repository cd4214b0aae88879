#include "algorithms/peer/log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "algorithms/peer/places.hpp"
#include "base/error.hpp"
#include "base/files/open_file.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

constexpr int kFlags = O_RDWR | O_APPEND;

}  // namespace

LogFile::LogFile(const std::string& path) {
  if (!path.empty()) {
    place_.emplace(path, Origin::found);
    place_->remove();
    file_ = place_->make_file(kFlags);
  } else {
    file_ = FileHandle(::open("/dev/null", kFlags | O_CLOEXEC));
  }
  if (!file_) fail(ErrorKind::io, "{}: cannot be written: {}", path, last_cause());
}

LogFile::~LogFile() {
  if (place_ && size_of(file_) == 0) place_->remove();
}

std::string LogFile::last_line() const {
  std::array<char, 4096> bytes{};
  const off_t begin = std::max<std::int64_t>(0, size_of(file_) - std::ssize(bytes));
  const auto count = ::pread(file_.fd(), bytes.data(), bytes.size(), begin);
  std::istringstream in(
      std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count))));
  std::string line, last;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  constexpr std::size_t kLongest = 300;
  return one_line(without_places(last).substr(0, kLongest));
}

}  // namespace mf::peer
