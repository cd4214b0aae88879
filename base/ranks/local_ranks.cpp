#include "base/ranks/local_ranks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/files/files.hpp"
#include "base/host/process_id.hpp"

namespace mf {
namespace {

constexpr std::size_t kLongestNote = 4000;
constexpr const char* kGone = "its process has ended";
constexpr double kGoodbyeSeconds = 5;

// Before each transfer: how long it is, and the how manyth between these two ranks.
struct Head {
  std::int64_t bytes = 0;
  std::int64_t number = 0;
};

// One rank's end of the link to another: a stream of transfers, and notes, each a message: "B" that
// it leaves as it should, or a fault.
struct Link {
  FileHandle stream;
  FileHandle notes;
  Head sent, received;  // the last ones
  bool left = false;    // it said so
};

// The progress of one transfer: its head, then its bytes.
struct Progress {
  int other;
  Head head;
  std::byte* data;
  std::int64_t done = 0;  // of both

  std::int64_t all() const { return head.bytes + static_cast<std::int64_t>(sizeof(Head)); }
  bool ended() const { return done == all(); }
  bool in_head() const { return done < static_cast<std::int64_t>(sizeof(Head)); }
};

class LocalLinks : public RankLinks {
 public:
  LocalLinks(int rank, std::vector<Link> links) : rank_(rank), links_(std::move(links)) {}
  ~LocalLinks() override {
    for (Link& link : links_) {
      if (link.notes && !announced_) note(link, "B");
    }
  }
  LocalLinks(const LocalLinks&) = delete;
  LocalLinks& operator=(const LocalLinks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(links_.size()); }

  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                double patience_s) override {
    std::vector<Progress> out, in;
    for (const Outgoing& one : sends) {
      Head& head = links_[one.to].sent;
      head = {one.bytes, head.number + 1};
      out.push_back({one.to, head, static_cast<std::byte*>(const_cast<void*>(one.data))});
    }
    for (const Incoming& one : receives) {
      Head& head = links_[one.from].received;
      head = {one.bytes, head.number + 1};
      in.push_back({one.from, head, static_cast<std::byte*>(one.data)});
    }
    Clock::time_point moved = Clock::now();
    while (!out.empty() || !in.empty()) {
      if (wait(out, in)) {
        moved = Clock::now();
      } else {
        end_long_wait(others_of(in, out), seconds_since(moved), patience_s);
      }
      if (const auto fault = heard()) throw RankFault(*fault);
      const auto over = [](const Progress& one) { return one.ended(); };
      for (Progress& one : out) push(one);
      for (Progress& one : in) pull(one);
      std::erase_if(out, over);
      std::erase_if(in, over);
    }
  }

  void announce(const Fault& fault) noexcept override {
    announced_ = true;
    known_ = true;
    for (Link& link : links_) {
      if (link.notes) note(link, to_note(fault));
    }
  }

  // Words first: a rank that is gone may have gone because of them.
  std::optional<Fault> heard() override {
    if (fault_) return fault_;
    int gone = -1;
    for (int other = 0; other < size(); ++other) {
      Link& link = links_[other];
      if (!link.notes || link.left) continue;
      std::array<char, kLongestNote> text;
      const ssize_t count = ::recv(link.notes.fd(), text.data(), text.size(), MSG_DONTWAIT);
      if (count > 0 && text[0] == 'B') {
        link.left = true;
      } else if (count > 0) {
        fault_ = from_note(std::string(text.data(), static_cast<std::size_t>(count)));
        known_ = true;
        if (fault_->message == kGone) fault_->message = how_it_ended(fault_->rank);
        return fault_;
      } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        if (gone < 0) gone = other;
      }
    }
    if (gone >= 0) {
      known_ = true;
      fault_ = Fault{gone, ErrorKind::io, how_it_ended(gone)};
    }
    return fault_;
  }

 protected:
  virtual std::string how_it_ended(int /*other*/) { return kGone; }
  const std::atomic<bool>& fault_is_known() const { return known_; }
  std::vector<int> note_fds() const {
    std::vector<int> fds;
    for (const Link& link : links_) {
      if (link.notes) fds.push_back(link.notes.fd());
    }
    return fds;
  }

 private:
  static void note(const Link& link, const std::string& text) noexcept {
    // Full or closed: that rank has ended or will find this one's end closed.
    [[maybe_unused]] const auto sent =
        ::send(link.notes.fd(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  // Until something can be moved, which it returns, there is a note, or a moment is over.
  bool wait(const std::vector<Progress>& out, const std::vector<Progress>& in) {
    constexpr int kMomentMilliseconds = 50;
    std::vector<pollfd> watched;
    for (const Progress& one : out) watched.push_back({links_[one.other].stream.fd(), POLLOUT, 0});
    for (const Progress& one : in) watched.push_back({links_[one.other].stream.fd(), POLLIN, 0});
    const std::size_t streams = watched.size();
    for (const Link& link : links_) {
      if (link.notes && !link.left) watched.push_back({link.notes.fd(), POLLIN, 0});
    }
    const int ready = ::poll(watched.data(), watched.size(), kMomentMilliseconds);
    if (ready < 0 && errno != EINTR) fail(ErrorKind::io, "poll: {}", last_cause());
    if (ready <= 0) return false;
    return std::any_of(watched.begin(), watched.begin() + static_cast<std::ptrdiff_t>(streams),
                       [](const pollfd& one) { return one.revents != 0; });
  }

  [[noreturn]] void lost(int other) {
    known_ = true;
    if (const auto fault = heard()) throw RankFault(*fault);
    throw RankFault({other, ErrorKind::io, how_it_ended(other)});
  }

  static std::vector<int> others_of(const std::vector<Progress>& in,
                                    const std::vector<Progress>& out) {
    std::vector<int> others;
    for (const auto* ways : {&in, &out}) {
      for (const Progress& one : *ways) others.push_back(one.other);
    }
    return others;
  }

  void push(Progress& one) {
    while (!one.ended()) {
      const bool head = one.in_head();
      const std::byte* from = head ? reinterpret_cast<const std::byte*>(&one.head) + one.done
                                   : one.data + (one.done - std::ssize(kHeadBytes));
      const std::int64_t left = (head ? std::ssize(kHeadBytes) : one.all()) - one.done;
      const ssize_t moved = ::send(links_[one.other].stream.fd(), from,
                                   static_cast<std::size_t>(left), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
      if (moved < 0) lost(one.other);
      one.done += moved;
    }
  }

  void pull(Progress& one) {
    while (!one.ended()) {
      const bool head = one.in_head();
      std::byte* to = head ? reinterpret_cast<std::byte*>(&incoming_head(one.other)) + one.done
                           : one.data + (one.done - std::ssize(kHeadBytes));
      const std::int64_t left = (head ? std::ssize(kHeadBytes) : one.all()) - one.done;
      const ssize_t moved =
          ::recv(links_[one.other].stream.fd(), to, static_cast<std::size_t>(left), MSG_DONTWAIT);
      if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
      if (moved <= 0) lost(one.other);
      one.done += moved;
      if (head && !one.in_head()) check(one, incoming_head(one.other));
    }
  }

  Head& incoming_head(int other) {
    heads_.resize(links_.size());
    return heads_[other];
  }

  static void check(const Progress& one, const Head& found) {
    if (found.bytes == one.head.bytes && found.number == one.head.number) return;
    throw std::logic_error(fmt::format(
        "rank {} sent transfer {} of {} bytes, expected {} of {}: the ranks are not in step",
        one.other, found.number, found.bytes, one.head.number, one.head.bytes));
  }

  static constexpr std::array<std::byte, sizeof(Head)> kHeadBytes{};

  const int rank_;
  std::vector<Link> links_;  // nothing at the own rank
  std::vector<Head> heads_;  // in order of arrival
  bool announced_ = false;
  std::atomic<bool> known_ = false;  // a fault, from any source
  std::optional<Fault> fault_;       // the first that was heard of
};

// Looks after the processes of the others while rank 0 has no time for it.
class ProcessWatch {
 public:
  using Lost = std::function<void(const Fault&)>;
  // `seen`: rank 0 knows of a fault. `notes`: the channels on which others say so.
  ProcessWatch(std::vector<pid_t> processes, std::vector<int> notes, Lost lost, double unheard_s,
               const std::atomic<bool>& seen)
      : processes_(std::move(processes)),
        notes_(std::move(notes)),
        lost_(std::move(lost)),
        unheard_s_(unheard_s),
        seen_(seen) {
    try {
      thread_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {  // then rank 0 finds it when it looks
    }
  }
  ~ProcessWatch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

 private:
  void watch() {
    std::optional<Clock::time_point> since;
    std::unique_lock lock(mutex_);
    while (!over_) {
      wake_.wait_for(lock, std::chrono::milliseconds(250), [&] { return over_; });
      const std::optional<Fault> fault = find();
      if (over_ || seen_ || !fault) {
        since.reset();
        continue;
      }
      if (!since) since = Clock::now();
      if (seconds_since(*since) >= unheard_s_) lost_(*fault);
    }
  }

  // The cause of a failure: a process that was killed; else a fault that another reported; else a
  // process that ended with an error. A rank that ends for another's fault must not be named.
  std::optional<Fault> find() const {
    std::optional<Fault> failed;
    for (int other = 1; other < static_cast<int>(processes_.size()); ++other) {
      const std::optional<int> status = ended(other);
      if (!status || *status == 0) continue;
      const Fault fault = {other, ErrorKind::io, how_ended(*status)};
      if (WIFSIGNALED(*status)) return fault;
      if (!failed) failed = fault;
    }
    return failed ? said().value_or(*failed) : failed;
  }

  // As from waitpid(). The process stays waitable for rank 0.
  std::optional<int> ended(int other) const {
    siginfo_t info{};
    const auto process = static_cast<id_t>(processes_[static_cast<std::size_t>(other)]);
    if (::waitid(P_PID, process, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return std::nullopt;
    if (info.si_pid == 0) return std::nullopt;
    return info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
  }

  // The first pending note of a fault, which is only peeked at.
  std::optional<Fault> said() const {
    for (const int fd : notes_) {
      std::array<char, kLongestNote> text;
      const ssize_t count = ::recv(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_PEEK);
      if (count > 0 && text[0] != 'B')
        return from_note(std::string(text.data(), static_cast<std::size_t>(count)));
    }
    return std::nullopt;
  }

  const std::vector<pid_t> processes_;
  const std::vector<int> notes_;  // of the links to the others
  const Lost lost_;
  const double unheard_s_;
  const std::atomic<bool>& seen_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

// For rank 0: knows the processes of the others.
class LeadingLinks : public LocalLinks {
 public:
  LeadingLinks(std::vector<Link> links, std::vector<pid_t> processes, ProcessWatch::Lost lost,
               double unheard_s)
      : LocalLinks(0, std::move(links)),
        processes_(std::move(processes)),
        ended_(processes_.size()) {
    if (lost)
      watch_ = std::make_unique<ProcessWatch>(processes_, note_fds(), std::move(lost), unheard_s,
                                              fault_is_known());
  }

  // They end when they are told to, or when they find that this one has gone.
  ~LeadingLinks() override {
    watch_.reset();
    const auto start = Clock::now();
    for (std::size_t other = 1; other < processes_.size(); ++other) {
      while (!reap(other) && seconds_since(start) < patience_) ::usleep(2000);
      if (ended_[other]) continue;
      ::kill(processes_[other], SIGKILL);
      ::waitpid(processes_[other], nullptr, 0);
    }
  }

  void end_others(int /*exit_code*/) noexcept override { patience_ = 1; }

 protected:
  std::string how_it_ended(int other) override {
    const auto start = Clock::now();  // its sockets close just before its status is known
    while (!reap(other) && seconds_since(start) < 1) ::usleep(1000);
    if (!ended_[other]) return "its process does not answer";
    return how_ended(*ended_[other]);
  }

 private:
  bool reap(std::size_t other) {
    int status = 0;
    if (!ended_[other] && ::waitpid(processes_[other], &status, WNOHANG) != 0) {
      ended_[other] = status;
    }
    return ended_[other].has_value();
  }

  std::vector<pid_t> processes_;           // by rank; [0] is not used
  std::vector<std::optional<int>> ended_;  // as from waitpid()
  double patience_ = kGoodbyeSeconds;
  std::unique_ptr<ProcessWatch> watch_;
};

std::pair<FileHandle, FileHandle> socket_pair(int kind) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(ErrorKind::io, "cannot connect processes: {}", last_cause());
  }
  return {FileHandle(ends[0]), FileHandle(ends[1])};
}

// [rank][other].
std::vector<std::vector<Link>> connect_all(int count) {
  std::vector<std::vector<Link>> of_rank;
  for (int rank = 0; rank < count; ++rank) of_rank.emplace_back(count);
  for (int low = 0; low < count; ++low) {
    for (int high = low + 1; high < count; ++high) {
      std::tie(of_rank[low][high].stream, of_rank[high][low].stream) = socket_pair(SOCK_STREAM);
      std::tie(of_rank[low][high].notes, of_rank[high][low].notes) = socket_pair(SOCK_SEQPACKET);
    }
  }
  return of_rank;
}

// In a new process: it ends with the one that started it.
void follow(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  be_silent();
}

}  // namespace

void be_silent() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, fd);
}

std::vector<std::shared_ptr<RankLinks>> make_local_links(int count) {
  std::vector<std::shared_ptr<RankLinks>> links;
  auto of_rank = connect_all(count);
  for (int rank = 0; rank < count; ++rank) {
    links.push_back(std::make_shared<LocalLinks>(rank, std::move(of_rank[rank])));
  }
  return links;
}

std::shared_ptr<RankLinks> start_local_ranks(int count, std::function<void(const Fault&)> lost,
                                             double unheard_s) {
  auto of_rank = connect_all(count);
  std::vector<pid_t> processes(count, 0);
  const pid_t parent = ::getpid();
  std::fflush(nullptr);  // or each process would write the buffered text
  for (int rank = 1; rank < count; ++rank) {
    const pid_t process = ::fork();
    if (process < 0) {
      const std::string cause = last_cause();
      for (int other = 1; other < rank; ++other) {
        ::kill(processes[other], SIGKILL);
        ::waitpid(processes[other], nullptr, 0);
      }
      fail(ErrorKind::memory, "cannot start {} processes: {}", count, cause);
    }
    if (process == 0) {
      follow(parent);
      std::vector<Link> own = std::move(of_rank[rank]);
      of_rank.clear();  // the ends of the others
      return std::make_shared<LocalLinks>(rank, std::move(own));
    }
    processes[rank] = process;
  }
  std::vector<Link> own = std::move(of_rank[0]);
  of_rank.clear();
  return std::make_shared<LeadingLinks>(std::move(own), std::move(processes), std::move(lost),
                                        unheard_s);
}

}  // namespace mf
