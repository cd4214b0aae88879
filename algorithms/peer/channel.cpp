#include "algorithms/peer/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace mf::peer {

std::pair<FileHandle, FileHandle> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(ErrorKind::io, "no socket to talk to a peer: {}", last_cause());
  }
  return {FileHandle(ends[0]), FileHandle(ends[1])};
}

// What is sent is a line of a hundred bytes: where the other end does not read, the system keeps
// thousands of them. So a full one is one that nobody reads.
bool Channel::send(const Json& message) {
  const std::string line = message.dump() + "\n";
  const auto sent = ::send(own_.fd(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == std::ssize(line);
}

std::optional<std::string> Channel::take_line() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) {
    if (pending_.size() <= kLongestLine) return std::nullopt;
    fail(ErrorKind::io, "it sent a line of more than {} bytes that begins with {}", kLongestLine,
         in_quotes(pending_));
  }
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

bool Channel::read_more() {
  std::array<char, 4096> buffer{};
  const auto count = recv(own_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) pending_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

std::optional<std::string> Channel::receive(const std::function<bool()>& watch) {
  while (true) {
    if (auto line = take_line()) return line;
    pollfd one{own_.fd(), POLLIN, 0};
    const int ready = poll(&one, 1, 100);
    if (ready > 0 && !read_more()) return std::nullopt;
    if (ready > 0) continue;
    if (!watch()) return std::nullopt;
  }
}

}  // namespace mf::peer
