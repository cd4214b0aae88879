// Carries failures from processes to the one that started them as its copies, after this was made:
// even if they are killed.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>

namespace mf {

class FailurePipe {
 public:
  FailurePipe() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe");
  }
  ~FailurePipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  FailurePipe(const FailurePipe&) = delete;
  FailurePipe& operator=(const FailurePipe&) = delete;

  void tell(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t now = ::write(ends_[1], text.data() + done, text.size() - done);
      if (now < 0 && errno != EINTR) return;
      if (now > 0) done += static_cast<std::size_t>(now);
    }
  }

  // All of it, once, by the one that has started the others: waits until they have ended.
  std::string told() {
    ::close(ends_[1]);
    ends_[1] = -1;
    std::string text;
    std::array<char, 4096> block;
    while (true) {
      const ssize_t now = ::read(ends_[0], block.data(), block.size());
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return text;
      text.append(block.data(), static_cast<std::size_t>(now));
    }
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};  // to read, to write
};

}  // namespace mf
