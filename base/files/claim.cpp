#include "base/files/claim.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"

namespace mf {
namespace {

namespace fs = std::filesystem;

// Longer than any file takes: on another machine, a dead writer looks like a slow one.
constexpr Patience kPatienceForFile{.seconds = 3600};
constexpr std::int64_t kAhead_ns = 3'600'000'000'000;  // no clock that is set is off by that
constexpr std::size_t kTokenDigits = 16;
constexpr int kToRead = O_RDONLY | O_NONBLOCK;
constexpr int kToMake = O_WRONLY | O_CREAT | O_EXCL;

ProcessId process_of(const Json& json) {
  const auto text = [&](const char* key) { return text_at(json, {key}).value_or(""); };
  return {one_line(text("host")), text("boot"), text("space"),
          integer_at(json, {"pid"}).value_or(0), text("begin")};
}

std::string new_token(const ProcessId& own) {
  static std::atomic<std::int64_t> count = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return sha256(
             fmt::format("{} {} {} {} {} {}", own.host, own.boot, own.space, own.pid, now, ++count))
      .substr(0, kTokenDigits);
}

// It becomes part of a file's name, and anyone may have written it.
std::string token_of(const Json& json) {
  const std::string token = text_at(json, {"token"}).value_or("");
  const bool plain =
      std::ranges::all_of(token, [](unsigned char c) { return std::isalnum(c) != 0; });
  return plain && !token.empty() && token.size() <= kTokenDigits ? token : "none";
}

// Names of files may have any bytes, keys may not.
std::string key_of_file(const std::string& path) {
  return sha256(fs::path(path).filename().string()).substr(0, 20);
}

// A larger file is not a claim.
Json json_of(const FileHandle& file) {
  std::array<char, 4096> bytes{};
  const auto count = std::max<ssize_t>(0, ::pread(file.fd(), bytes.data(), bytes.size(), 0));
  return Json::parse(bytes.begin(), bytes.begin() + count, nullptr, false);
}

}  // namespace

bool ClaimHolder::is_free(const Patience& patience) const {
  if (runs) return !*runs;
  return seen_s > patience.seconds || made_ns < patience.made_before_ns;
}

// An unreachable file system says nothing of the claim.
bool Claim::is_held() const {
  const FileHandle file = folder_.open(name_, kToRead);
  return file ? token_of(json_of(file)) == token_ : errno != ENOENT;
}

Claim::~Claim() {
  if (is_held()) ::unlinkat(folder_.folder_.fd(), name_.c_str(), 0);
}

ClaimFolder::ClaimFolder(std::string folder, std::string about)
    : path_(std::move(folder)),
      about_(std::move(about)),
      folder_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) fail(ErrorKind::io, "{}: cannot be opened: {}", path_, last_cause());
}

FileHandle ClaimFolder::open(const std::string& name, int flags) const {
  return FileHandle(::openat(folder_.fd(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666));
}

void ClaimFolder::fail_at(const std::string& name, const std::string& what) const {
  fail(ErrorKind::io, "{}/{}: {}: {}", path_, name, what, last_cause());
}

std::unique_ptr<Claim> ClaimFolder::take(const std::string& key, const Patience& patience) const {
  return take_file(kClaimPrefix + key, patience);
}

std::unique_ptr<Claim> ClaimFolder::take_file(const std::string& name,
                                              const Patience& patience) const {
  while (true) {
    if (auto made = make(name)) return made;
    const auto held = read(name);
    if (!held) continue;  // it was released between the two
    if (!held->is_free(patience)) return nullptr;
    // Only one process makes the heir of this token. If it ends here, the heir has an heir.
    auto heir = take_file(name + "~" + held->token, patience);
    if (!heir) return nullptr;
    const auto still = read(name);
    if (!still || still->token != held->token) continue;
    if (::renameat(folder_.fd(), heir->name_.c_str(), folder_.fd(), name.c_str()) != 0) {
      fail_at(name, "cannot be taken over");
    }
    heir->name_ = name;
    return heir;
  }
}

// Null if the claim exists. The file is written under its own name and then linked, so that a
// process killed between the two leaves no claim without a holder.
std::unique_ptr<Claim> ClaimFolder::make(const std::string& name) const {
  const std::string token = new_token(own_);
  const std::string draft = ".new-" + token;
  FileHandle file = open(draft, kToMake);
  if (!file) fail_at(name, "cannot be written");
  const Json json = {{"host", own_.host}, {"boot", own_.boot},   {"space", own_.space},
                     {"pid", own_.pid},   {"begin", own_.begin}, {"token", token},
                     {"about", about_}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool made = write_all(file, text) && file.close() &&
                    ::linkat(folder_.fd(), draft.c_str(), folder_.fd(), name.c_str(), 0) == 0;
  const int cause = errno;
  ::unlinkat(folder_.fd(), draft.c_str(), 0);
  errno = cause;
  if (!made && cause == EEXIST) return nullptr;
  if (!made) fail_at(name, "cannot be written");
  return std::unique_ptr<Claim>(new Claim(*this, name, token));
}

std::optional<ClaimHolder> ClaimFolder::read(const std::string& name) const {
  const FileHandle file = open(name, kToRead);
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) fail_at(name, "cannot be read");
  const Json json = json_of(file);
  ClaimHolder found;
  found.process = process_of(json);
  found.about = text_at(json, {"about"}).value_or("");
  found.token = token_of(json);
  found.made_ns = changed_ns(file);
  // A wrong date, which no run would begin after: it counts as older than all.
  const std::int64_t most = std::chrono::system_clock::now().time_since_epoch().count() + kAhead_ns;
  if (found.made_ns > most && found.made_ns > now_ns() + kAhead_ns) found.made_ns = 0;
  found.seen_s = seconds_since(seen_.try_emplace(found.token, Clock::now()).first->second);
  found.runs = is_running(found.process);
  return found;
}

std::int64_t ClaimFolder::now_ns() const {
  const auto mark = make(".now-" + new_token(own_));
  const FileHandle made = open(mark->name_, kToRead);
  if (!made) fail_at(mark->name_, "cannot be read");
  return changed_ns(made);
}

std::optional<ClaimHolder> ClaimFolder::holder(const std::string& key) const {
  return read(kClaimPrefix + key);
}

std::vector<ClaimHolder> ClaimFolder::holders() const {
  std::vector<ClaimHolder> found;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kClaimPrefix)) continue;
    const auto holder = read(name);
    const bool counts = holder && holder->runs.value_or(true) && holder->process != own_;
    if (counts) found.push_back(*holder);
  }
  return found;
}

FileClaim::FileClaim(const std::string& path, bool waits)
    : path_(path),
      folder_((fs::path(".") / fs::path(path).parent_path()).string(), "file"),
      claim_(folder_.take(key_of_file(path))) {
  if (claim_ || !waits) return;
  const std::string key = key_of_file(path);
  const auto holder = folder_.holder(key);
  const std::string what = fmt::format(
      "{}, which writes {}", holder ? holder->process.to_text() : "another process", path);
  note("waiting for {}; if it has ended, remove {}/{}{}", what, folder_.path(), kClaimPrefix, key);
  const auto start = Clock::now();
  for (int moment = 1; !claim_; ++moment) {
    wait_a_moment(what, seconds_since(start));
    if (moment % 4 == 0) claim_ = folder_.take(key, kPatienceForFile);  // a look reads a file
  }
}

std::unique_ptr<FileClaim> FileClaim::if_free(const std::string& path) {
  std::unique_ptr<FileClaim> taken(new FileClaim(path, false));
  return taken->claim_ ? std::move(taken) : nullptr;
}

void FileClaim::check() const {
  if (claim_->is_held()) return;
  fail(ErrorKind::io, "{}: another process has taken over the writing, after {:g} s", path_,
       kPatienceForFile.seconds);
}

}  // namespace mf
