#include "base/files/claim.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"

namespace mf {
namespace {

constexpr int kTouches = 6;  // in the time of a lease: a few may fail
constexpr double kNanos = 1e-9;
constexpr std::size_t kTokenDigits = 16;

// No other claim, of whichever machine, has it.
std::string new_token(const ProcessId& own) {
  static std::atomic<std::int64_t> count = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256(fmt::format("{} {} {} {} {} {} {}", own.host, own.boot, own.space, own.pid,
                            own.begin, now, ++count))
      .substr(0, kTokenDigits);
}

// It is part of a file's name: whoever wrote the claim, it leads nowhere.
std::string token_of(const Json& json) {
  const std::string token = text_at(json, {"token"}).value_or("");
  const bool plain =
      std::all_of(token.begin(), token.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return plain && token.size() <= kTokenDigits ? token : "";
}

// What is larger is no claim.
std::string text_of(const FileHandle& file) {
  std::array<char, 4096> bytes{};
  const auto count = ::pread(file.fd(), bytes.data(), bytes.size(), 0);
  return count < 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(count));
}

Json to_json(const ProcessId& process) {
  return {{"host", process.host},
          {"boot", process.boot},
          {"space", process.space},
          {"pid", process.pid},
          {"begin", process.begin}};
}

ProcessId process_of(const Json& json) {
  const auto text = [&](const char* key) { return text_at(json, {key}).value_or(""); };
  return {one_line(text("host")), text("boot"), text("space"),
          integer_at(json, {"pid"}).value_or(0), text("begin")};
}

// The threads that compute are those to be interrupted.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

double claim_lease_s() {
  return seconds_of_environment("MFBENCH_LEASE", {120, 1, 86'400, "seconds from 1 to 86400"});
}

// ---- a claim that is held -----------------------------------------------------------------------

// A file system that is away for a while says nothing of the claim.
void Claim::touch() {
  const FileHandle file(::openat(folder_.folder_.fd(), name_.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno != ENOENT) return;
  const Json text = file ? Json::parse(text_of(file), nullptr, false) : Json();
  if (text_at(text, {"token"}) == token_) {
    ::futimens(file.fd(), nullptr);
  } else {
    lost_ = true;
  }
}

bool Claim::is_held() {
  if (!lost_) touch();
  return !lost_;
}

void Claim::move_to(const std::string& name) {
  const int folder = folder_.folder_.fd();
  if (::renameat(folder, name_.c_str(), folder, name.c_str()) != 0) {
    folder_.fail_at(name, "cannot be taken over");
  }
  name_ = name;
}

Claim::~Claim() {
  folder_.drop(*this);
  // After a long stop it may be another's.
  if (is_held()) ::unlinkat(folder_.folder_.fd(), name_.c_str(), 0);
}

// ---- the folder ---------------------------------------------------------------------------------

ClaimFolder::ClaimFolder(std::string folder, std::string about, double lease_s)
    : path_(std::move(folder)),
      about_(std::move(about)),
      lease_s_(lease_s),
      folder_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) fail(ErrorKind::io, "{}: cannot be opened: {}", path_, last_cause());
}

ClaimFolder::~ClaimFolder() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ClaimFolder::keep(Claim& claim) const {
  const std::lock_guard lock(mutex_);
  held_.insert(&claim);
  if (thread_.joinable()) return;
  const NoSignals none;
  try {
    thread_ = std::thread([this] { touch_held(); });
  } catch (const std::system_error& error) {
    fail(ErrorKind::memory, "{}: no thread can be started to hold a claim: {}", path_,
         cause_of(error.code().value()));
  }
}

void ClaimFolder::drop(Claim& claim) const {
  const std::lock_guard lock(mutex_);
  held_.erase(&claim);
}

void ClaimFolder::touch_held() const {
  const std::chrono::duration<double> pace(lease_s_ / kTouches);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pace, [this] { return ends_; })) {
    for (Claim* claim : held_) claim->touch();
  }
}

void ClaimFolder::fail_at(const std::string& name, const std::string& what) const {
  fail(ErrorKind::io, "{}/{}: {}: {}", path_, name, what, last_cause());
}

std::unique_ptr<Claim> ClaimFolder::take(const std::string& key) const {
  auto claim = take_file(kClaimPrefix + key);
  if (claim) keep(*claim);
  return claim;
}

std::unique_ptr<Claim> ClaimFolder::take_file(const std::string& name) const {
  while (true) {
    if (auto made = make(name)) return made;
    const auto held = read(name);
    if (!held) continue;  // it was released between the two
    if (!held->ended) return nullptr;
    // Only one process succeeds to this token, and one that ended while it did has an heir, too.
    auto heir = take_file(name + "~" + held->token);
    if (!heir) return nullptr;
    const auto still = read(name);
    if (!still || !still->ended || still->token != held->token) continue;
    heir->move_to(name);
    return heir;
  }
}

// Null where there is one. It is written under a name of its own and then linked, so that no
// process that ends between the two leaves a claim without its holder.
std::unique_ptr<Claim> ClaimFolder::make(const std::string& name) const {
  const std::string token = new_token(own_);
  const std::string draft = ".new-" + token;
  FileHandle file(::openat(folder_.fd(), draft.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) fail_at(name, "cannot be written");
  Json json = to_json(own_);
  json["token"] = token;
  json["lease_s"] = lease_s_;
  json["about"] = about_;
  const bool made =
      write_all(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n") &&
      file.close() && ::linkat(folder_.fd(), draft.c_str(), folder_.fd(), name.c_str(), 0) == 0;
  const int cause = errno;
  ::unlinkat(folder_.fd(), draft.c_str(), 0);
  errno = cause;
  if (!made && cause == EEXIST) return nullptr;
  if (!made) fail_at(name, "cannot be written");
  return std::unique_ptr<Claim>(new Claim(*this, name, token));
}

std::optional<ClaimHolder> ClaimFolder::read(const std::string& name) const {
  const FileHandle file(
      ::openat(folder_.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) fail_at(name, "cannot be read");
  const Json json = Json::parse(text_of(file), nullptr, false);
  ClaimHolder found;
  found.process = process_of(json);
  found.about = text_at(json, {"about"}).value_or("");
  found.token = token_of(json);
  found.touched_ns = changed_ns(file);
  judge(found, number_at(json, {"lease_s"}).value_or(lease_s_));
  return found;
}

void ClaimFolder::judge(ClaimHolder& holder, double lease_s) const {
  holder.here = holder.process.on_same_host(own_);
  holder.runs = is_running(holder.process);
  holder.ended = holder.runs ? !*holder.runs
                             : kNanos * static_cast<double>(now_ns() - holder.touched_ns) > lease_s;
}

std::int64_t ClaimFolder::now_ns() const {
  const std::string name = ".now-" + new_token(own_);
  const FileHandle file(::openat(folder_.fd(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) fail_at(name, "cannot be written");
  ::futimens(file.fd(), nullptr);
  const std::int64_t now = changed_ns(file);
  ::unlinkat(folder_.fd(), name.c_str(), 0);
  return now;
}

std::optional<ClaimHolder> ClaimFolder::holder(const std::string& key) const {
  return read(kClaimPrefix + key);
}

std::vector<ClaimHolder> ClaimFolder::holders() const {
  std::vector<ClaimHolder> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kClaimPrefix)) continue;
    const auto holder = read(name);
    if (!holder || holder->ended) continue;
    if (holder->here && holder->process.pid == own_.pid && holder->process.space == own_.space) {
      continue;
    }
    found.push_back(*holder);
  }
  return found;
}

// ---- what others hold ---------------------------------------------------------------------------

ClaimWatch::ClaimWatch(const ClaimFolder& folder, std::vector<std::string> keys) : folder_(folder) {
  for (auto& key : keys) all_.push_back({std::move(key), std::nullopt});
}

ClaimWatch::Seen ClaimWatch::look() {
  Seen seen = Seen::held;
  for (One& one : all_) {
    const auto now = folder_.holder(one.key);
    if (!now || now->ended) return Seen::free;
    if (!one.first) one.first = now;
    const bool known = now->runs.value_or(false) || now->touched_ns != one.first->touched_ns ||
                       now->token != one.first->token;
    if (!known || seen == Seen::held) {
      last_ = *now;
      key_ = one.key;
    }
    if (!known) seen = Seen::unsure;
  }
  return seen;
}

}  // namespace mf
