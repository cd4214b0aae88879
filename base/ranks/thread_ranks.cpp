#include "base/ranks/thread_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/clock.hpp"

namespace mf {
namespace {

constexpr std::int64_t kShortBytes = 64 << 10;
constexpr std::chrono::milliseconds kMoment{50};
constexpr std::chrono::seconds kGoodbye{2};

struct Message {
  const std::byte* data;
  std::int64_t bytes;
  std::vector<std::byte> copy = {};  // of a short one, whose sender does not wait
  enum class State { sent, read, received } state = State::sent;
};
using Mail = std::shared_ptr<Message>;

// Of all ranks. The mutex guards all of it, but not the bytes that are read.
struct Office {
  explicit Office(int count) : mail(count, std::vector<std::deque<Mail>>(count)), left(count) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<std::deque<Mail>>> mail;  // [from][to], the oldest first
  std::vector<char> left;
  std::vector<std::pair<int, Fault>> faults;  // by whom they were announced
  std::atomic<bool> failed{false};            // there is one
};

class ThreadLinks : public RankLinks {
 public:
  ThreadLinks(int rank, std::shared_ptr<Office> office) : rank_(rank), office_(std::move(office)) {}
  ~ThreadLinks() override {
    const std::lock_guard lock(office_->mutex);
    office_->left[rank_] = 1;
    office_->changed.notify_all();
  }
  ThreadLinks(const ThreadLinks&) = delete;
  ThreadLinks& operator=(const ThreadLinks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(office_->left.size()); }

  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives,
                double patience_s) override {
    std::unique_lock lock(office_->mutex);
    std::vector<std::pair<int, Mail>> out;
    for (const Outgoing& one : sends) {
      const auto* data = static_cast<const std::byte*>(one.data);
      const auto mail = std::make_shared<Message>(Message{data, one.bytes});
      office_->mail[rank_][one.to].push_back(mail);
      if (one.bytes > kShortBytes) {
        out.emplace_back(one.to, mail);
      } else {
        mail->copy.assign(data, data + one.bytes);
        mail->data = mail->copy.data();
      }
    }
    office_->changed.notify_all();
    try {
      wait(lock, out, {receives.begin(), receives.end()}, patience_s);
    } catch (...) {  // no one reads the memory of this rank after it
      if (!lock.owns_lock()) lock.lock();
      for (const auto& [to, mail] : out) {
        std::erase(office_->mail[rank_][to], mail);
        office_->changed.wait(lock,
                              [&, &one = *mail] { return one.state != Message::State::read; });
      }
      throw;
    }
  }

  void announce(const Fault& fault) noexcept override {
    const std::lock_guard lock(office_->mutex);
    office_->faults.emplace_back(rank_, fault);
    office_->failed = true;
    office_->changed.notify_all();
  }

  std::optional<Fault> heard() override {
    if (!office_->failed) return std::nullopt;
    const std::lock_guard lock(office_->mutex);
    return heard_of();
  }

  void end_others(int exit_code) noexcept override {
    std::unique_lock lock(office_->mutex);
    const auto others = [&] { return std::count(office_->left.begin(), office_->left.end(), 0); };
    if (!office_->changed.wait_for(lock, kGoodbye, [&] { return others() == 1; }))
      ::_exit(exit_code);
  }

 private:
  void wait(std::unique_lock<std::mutex>& lock, std::vector<std::pair<int, Mail>>& out,
            std::vector<Incoming> in, double patience_s) {
    auto moved = Clock::now();
    while (true) {
      const std::size_t before = out.size() + in.size();
      std::erase_if(in, [&](const Incoming& one) { return take(lock, one); });
      std::erase_if(out,
                    [](const auto& one) { return one.second->state == Message::State::received; });
      if (out.empty() && in.empty()) return;
      if (const auto fault = heard_of()) throw RankFault(*fault);
      if (out.size() + in.size() < before) {
        moved = Clock::now();  // and mail may have come meanwhile
        continue;
      }
      std::vector<int> others;
      for (const Incoming& one : in) others.push_back(one.from);
      for (const auto& [to, mail] : out) others.push_back(to);
      for (const int other : others) {
        if (office_->left[other] != 0) throw RankFault({other, ErrorKind::io, "it has ended"});
      }
      office_->changed.wait_for(lock, kMoment);
      lock.unlock();
      end_long_wait(std::move(others), seconds_since(moved), patience_s);
      lock.lock();
    }
  }

  // False: it is not there yet.
  bool take(std::unique_lock<std::mutex>& lock, const Incoming& one) {
    auto& queue = office_->mail[one.from][rank_];
    if (queue.empty()) return false;
    const Mail mail = queue.front();
    queue.pop_front();
    if (mail->bytes != one.bytes) {
      throw std::logic_error(
          fmt::format("rank {} sent {} bytes, expected {}: the ranks are not in step", one.from,
                      mail->bytes, one.bytes));
    }
    mail->state = Message::State::read;
    lock.unlock();
    std::copy_n(mail->data, one.bytes, static_cast<std::byte*>(one.data));
    lock.lock();
    mail->state = Message::State::received;
    office_->changed.notify_all();
    return true;
  }

  std::optional<Fault> heard_of() const {
    for (const auto& [by, fault] : office_->faults) {
      if (by != rank_) return fault;
    }
    return std::nullopt;
  }

  const int rank_;
  const std::shared_ptr<Office> office_;
};

}  // namespace

std::vector<std::shared_ptr<RankLinks>> make_thread_links(int count) {
  const auto office = std::make_shared<Office>(count);
  std::vector<std::shared_ptr<RankLinks>> links;
  for (int rank = 0; rank < count; ++rank) {
    links.push_back(std::make_shared<ThreadLinks>(rank, office));
  }
  return links;
}

}  // namespace mf
