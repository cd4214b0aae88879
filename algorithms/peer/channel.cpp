#include "algorithms/peer/channel.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "algorithms/core/foreign.hpp"
#include "algorithms/peer/libraries.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mf::peer {
namespace {

constexpr int kFile = 3;         // the channel in the new process
constexpr double kGrace_s = 60;  // a supervisor that says nothing so much after its time is lost
constexpr double kEnd_s = 60;    // it kills what it has started, and removes its folder

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Environment variables that libraries need; proxies and credentials are left out.
std::vector<std::string> variables() {
  std::vector<std::string> all = {"LC_ALL=C.UTF-8"};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "JAVA_HOME", "CUDA_VISIBLE_DEVICES",
                           "CUDA_HOME", "CUDA_PATH", "MFBENCH_SPARK_MASTER"}) {
    if (const char* value = std::getenv(name)) all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

// Isolated: neither the folder that it runs in nor PYTHON* of the user's decide what is imported.
// That hides PYTHONDONTWRITEBYTECODE, too, which -B stands for: bytecode stays out of the sources.
pid_t start_supervisor(const std::string& python, int channel) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel, kFile);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_addclosefrom_np(&actions, kFile + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, python.c_str(), &actions, &attributes,
                                pointers({python, "-I", "-B", supervisor_script()}).data(),
                                pointers(variables()).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail(ErrorKind::io, "{}: cannot be started: {}", python, cause_of(error));
  return pid;
}

}  // namespace

Channel::Channel(const std::string& python, std::string library, double bytes,
                 const std::string& log)
    : library_(std::move(library)) {
  std::array<int, 2> ends{};
  if (::access(supervisor_script().c_str(), R_OK) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(ErrorKind::io, "no process for a peer, by {}: {}", supervisor_script(), last_cause());
  }
  file_ = FileHandle(ends[0]);
  const FileHandle theirs(ends[1]);
  pid_ = start_supervisor(python, theirs.fd());
  const std::string places = environments_folder();
  ask({{"library", library_}, {"bytes", bytes}, {"log", log}, {"environments", places}});
  if (const auto folder = next("folder")) {
    folder_ = folder->get<std::string>();
    return;
  }
  end();
  fail(ErrorKind::io, "no folder for a peer: {}", text("text"));
}

void Channel::start(const Json& order, std::function<bool()> stop) {
  timeout_s_ = order.at("request").at("params").at("timeout_s").get<double>();
  stop_ = std::move(stop);
  ask(order);
}

// The pipe holds many lines of some hundred bytes. If a line does not fit, the supervisor has
// stopped reading. next() finds that.
void Channel::ask(const Json& question) {
  const auto replaced = Json::error_handler_t::replace;  // a text may be cut within a character
  const std::string line = question.dump(-1, ' ', false, replaced) + "\n";
  ::send(file_.fd(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Channel::set_over(const char* why, const char* text) {
  if (over()) return;
  const auto whole = fmt::format("the peer {} cannot be used: {}", library_, text);
  said_.update({{"over", why}, {"text", text}, {"whole", whole}});
}

std::string Channel::text(const char* key) const {
  return one_line(text_at(said_, {key}).value_or(""));
}

// The next whole line of the supervisor, which has 0.1 s for it.
std::optional<std::string> Channel::take_line() {
  pollfd one{file_.fd(), POLLIN, 0};
  if (pending_.find('\n') == std::string::npos && poll(&one, 1, 100) > 0) {
    std::array<char, 1 << 14> buffer{};
    const auto count = recv(file_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) pending_.append(buffer.data(), static_cast<std::size_t>(count));
    const bool open = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (!open) set_over("broken", "its supervisor ended early");
  }
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

// The next value of this key; nothing if the conversation is over.
std::optional<Json> Channel::next(const char* key) {
  const auto asked = Clock::now();
  while (!over()) {
    if (const auto line = take_line()) {
      const Json message = parse_json(*line, "a message of supervisor.py");
      if (const auto text = text_at(message, {"note"})) note("{}", one_line(*text));
      said_.update(message);
      if (message.contains(key)) return message.at(key);
    } else if (stop_ && stop_()) {
      set_over("stop", "was given up");
    } else if (seconds_since(asked) > timeout_s_ + kGrace_s) {
      set_over("broken", "its supervisor says nothing");
    }
  }
  return std::nullopt;
}

Json Channel::answer() {
  if (const auto message = next("said")) return *message;
  end();
  const std::string why = text("over"), whole = text("whole");
  if (why == "stop") return nullptr;
  if (why == "timeout") throw CaseOver(CaseOver::Why::timeout, whole);
  if (why == "skipped") throw CaseOver(CaseOver::Why::skipped, whole);
  throw Error(why == "memory" ? ErrorKind::memory : ErrorKind::io, whole);
}

Json Channel::needed_answer() {
  Json message = answer();
  if (message.is_null()) fail(ErrorKind::io, "the peer {} was given up", library_);
  return message;
}

void Channel::broken(const std::string& why) {
  ask({{"type", "stop"}, {"why", why.substr(0, 1000)}});  // a peer may send words of a megabyte
  stop_ = nullptr;
  needed_answer();
  fail(ErrorKind::io, "the peer {} cannot be used: {}", library_, why);
}

Json Channel::finish() {
  if (over()) return Json::object();
  stop_ = nullptr;
  ask({{"type", "end"}});
  Json account = answer();
  account.erase("type");
  next("said");
  account["ended"] = text("text");
  end();
  return account;
}

void Channel::end() {
  if (pid_ < 0) return;
  file_ = FileHandle();  // which ends the supervisor
  const auto start = Clock::now();
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (seconds_since(start) > kEnd_s) ::kill(-pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  set_over("ended", "was ended");
}

std::vector<std::string> confinements() {
  try {
    const Channel channel(python_of(kCallersPython), "", 0);
    return channel.said().at("confined").get<std::vector<std::string>>();
  } catch (const Error&) {  // without a Python there is no peer
    return {};
  }
}

}  // namespace mf::peer
