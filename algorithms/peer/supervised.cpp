#include "algorithms/peer/supervised.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "algorithms/peer/places.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/json/names.hpp"

namespace mf::peer {
namespace {

constexpr int kChannel = 3;
constexpr std::size_t kLongestLine = 1 << 20;  // of the supervisor; a peer's is a sixteenth
constexpr double kGrace_s = 60;  // a supervisor that says nothing so much after its time is lost
constexpr double kEnd_s = 15;    // it kills what it has started

constexpr Names kWhys{std::to_array<Named<Over::Why>>({{"timeout", Over::Why::timeout},
                                                       {"memory", Over::Why::memory},
                                                       {"broken", Over::Why::broken},
                                                       {"ended", Over::Why::ended}})};

Json order_json(const Order& order) {
  return {{"adapter", order.adapter},           {"folder", order.folder},
          {"answers", order.answers},           {"timeout_s", order.timeout_s},
          {"memory_bytes", order.memory_bytes}, {"address_bytes", order.address_bytes},
          {"network", order.keeps_network},     {"scratch_gb", or_null(order.scratch_gb)},
          {"confined", order.confined}};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Caches and temporary files go to the folder that it may write to.
std::vector<std::string> environment_of(const Order& order) {
  std::vector<std::string> all = {"HOME=" + order.folder, "TMPDIR=" + order.folder,
                                  "LC_ALL=C.UTF-8"};
  all.insert(all.end(), order.variables.begin(), order.variables.end());
  return all;
}

// A copy whose number is above those that the new process uses.
FileHandle above_channel(int file) {
  FileHandle copy(::fcntl(file, F_DUPFD_CLOEXEC, kChannel + 1));
  if (!copy) fail(ErrorKind::io, "no process can be started: {}", last_cause());
  return copy;
}

void check(int error) {
  if (error != 0) fail(ErrorKind::io, "no process can be started: {}", cause_of(error));
}

// Isolated: neither the folder that it runs in nor PYTHON* of the user's decide what is imported.
// That hides PYTHONDONTWRITEBYTECODE, too, which -B stands for: bytecode stays out of the sources.
pid_t start(const Order& order, int log, int channel) {
  const std::vector<std::string> words = {order.python, "-I", "-B", supervisor_script()};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  check(posix_spawn_file_actions_adddup2(&actions, channel, kChannel));
  check(posix_spawn_file_actions_adddup2(&actions, log, 1));
  check(posix_spawn_file_actions_adddup2(&actions, log, 2));
  check(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0));
  check(posix_spawn_file_actions_addclosefrom_np(&actions, kChannel + 1));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  check(posix_spawnattr_setsigmask(&attributes, &none));
  check(posix_spawnattr_setsigdefault(&attributes, &all));
  check(posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words[0].c_str(), &actions, &attributes,
                                pointers(words).data(), pointers(environment_of(order)).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  fail(ErrorKind::io, "{}: cannot be started: {}", words[0], cause_of(error));
}

}  // namespace

Supervised::Supervised(const Order& order) : timeout_s_(order.timeout_s), log_(order.log) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(ErrorKind::io, "no socket to talk to a peer: {}", last_cause());
  }
  channel_ = FileHandle(ends[0]);
  const FileHandle theirs(ends[1]);
  pid_ = start(order, above_channel(log_.fd()).fd(), above_channel(theirs.fd()).fd());
  ask(order_json(order));
}

// The pipe holds many lines of some hundred bytes. One that does not fit means that the supervisor
// has stopped reading, which answer() finds.
void Supervised::ask(const Json& message) {
  const std::string line = message.dump() + "\n";
  ::send(channel_.fd(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<std::string> Supervised::take_line() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos && pending_.size() > kLongestLine) {
    over_ = {Over::Why::broken, "its supervisor sent a line without an end"};
  }
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

// False: closed.
bool Supervised::read_more() {
  std::array<char, 1 << 14> buffer{};
  const auto count = recv(channel_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) pending_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

std::optional<std::string> Supervised::take(const Json& message) {
  cpu_s_ = number_at(message, {"cpu_s"}).value_or(cpu_s_);
  peak_bytes_ = integer_at(message, {"peak_bytes"}).value_or(peak_bytes_);
  network_ = text_at(message, {"network"}).value_or(network_);
  network_why_ = text_at(message, {"why"}).value_or(network_why_);
  if (const auto why = text_at(message, {"over"})) {
    over_ = {kWhys.parse(*why, "the end"), text_at(message, {"text"}).value_or("")};
  }
  return text_at(message, {"said"});
}

std::optional<std::string> Supervised::answer(const std::function<bool()>& stop) {
  const auto asked = Clock::now();
  while (!over_) {
    if (const auto line = take_line()) {
      if (auto said = take(parse_json(*line, "a message of supervisor.py"))) return said;
      continue;
    }
    pollfd one{channel_.fd(), POLLIN, 0};
    if (poll(&one, 1, 100) > 0 && !read_more()) {
      over_ = {Over::Why::broken, "its supervisor ended early"};
    } else if (stop && stop()) {
      over_ = {Over::Why::stop, "was given up"};
    } else if (seconds_since(asked) > timeout_s_ + kGrace_s) {
      over_ = {Over::Why::broken, "its supervisor says nothing"};
    }
  }
  return std::nullopt;
}

void Supervised::end() {
  if (pid_ < 0) return;
  channel_ = FileHandle();  // which ends the supervisor
  const auto start = Clock::now();
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (seconds_since(start) > kEnd_s) ::kill(-pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  if (!over_) over_ = {Over::Why::ended, "was ended"};
}

}  // namespace mf::peer
