#include "base/ranks/communicator.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/wait.hpp"

namespace mf {

RankFault::RankFault(Fault fault)
    : Error(fault.kind, fmt::format("rank {}: {}", fault.rank, fault.message)),
      fault_(std::move(fault)) {}

void end_long_wait(std::vector<int> others, double waited_s, double patience_s) {
  constexpr double kUsualSeconds = 5;
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const auto names = [&] {
    return fmt::format("rank{} {}", others.size() > 1 ? "s" : "", fmt::join(others, ", "));
  };
  if (patience_s > 0 && waited_s > patience_s) {
    const std::string subject = others.size() > 1 ? names() + " were" : "was";
    throw RankFault({others.front(), ErrorKind::io,
                     fmt::format("{} waited for {:.0f} s; MFBENCH_RANK_PATIENCE waits longer",
                                 subject, patience_s)});
  }
  if (waited_s < kUsualSeconds) return;
  try {
    check_wait(names(), waited_s);
  } catch (const Error& error) {
    throw RankFault({others.front(), error.kind(), error.what()});
  }
}

std::string to_note(const Fault& fault) {
  constexpr std::size_t kLongest = 2000;
  return fmt::format("{} {} {}", static_cast<int>(fault.kind), fault.rank,
                     fault.message.substr(0, kLongest));
}

Fault from_note(const std::string& note) {
  const std::size_t first = note.find(' ');
  const std::size_t second = note.find(' ', first + 1);
  return {std::stoi(note.substr(first + 1)), static_cast<ErrorKind>(std::stoi(note)),
          note.substr(second + 1)};
}

double rank_patience_s() {
  return seconds_of_environment(
      "MFBENCH_RANK_PATIENCE",
      {1800, 0, std::numeric_limits<double>::infinity(), "seconds, or 0 to wait for ever"});
}

Fault current_fault(int rank) {
  try {
    throw;
  } catch (const Error& error) {
    return {rank, error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return {rank, ErrorKind::memory, "the host's memory did not suffice"};
  } catch (const std::exception& error) {
    return {rank, ErrorKind::io, error.what()};
  } catch (...) {
    return {rank, ErrorKind::io, "an unknown exception was thrown"};
  }
}

Communicator::Communicator(std::shared_ptr<RankLinks> links)
    : links_(std::move(links)), size_(links_->size()) {}

Communicator Communicator::first(int count) const {
  if (count < 1 || count > size_) throw std::logic_error("there are not so many ranks");
  Communicator part = *this;
  part.size_ = count;
  if (count == 1) part.links_.reset();
  return part;
}

Communicator Communicator::borrowed() const {
  Communicator same = *this;
  same.links_ = std::shared_ptr<RankLinks>(links_.get(), [](RankLinks*) {});
  return same;
}

// Skips the backend if nothing moves: it has no other rank to wait for, or to name.
void Communicator::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
  if (sends.empty() && receives.empty()) return;
  links_->exchange(sends, receives, rank_patience_s());
}

void Communicator::barrier() { all_min(0); }

void Communicator::broadcast(std::span<std::byte> bytes, int root) {
  if (size_ == 1) return;
  const std::int64_t count = std::ssize(bytes);
  if (rank() != root) return receive(root, bytes);
  std::vector<Outgoing> sends;
  for (int to = 0; to < size_; ++to) {
    if (to != root) sends.push_back({to, bytes.data(), count});
  }
  exchange(sends, {});
}

void Communicator::gather_bytes(std::span<std::byte> data, const PartOffsets& offsets,
                                std::int64_t element) {
  if (std::ssize(offsets) != size_ + 1 || offsets.back() * element > std::ssize(data)) {
    throw std::logic_error("all_gather: offsets do not fit the ranks or the array");
  }
  const auto bytes_of = [&](int part) { return (offsets[part + 1] - offsets[part]) * element; };
  const auto begin_of = [&](int part) { return data.data() + offsets[part] * element; };
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int other = 0; other < size_; ++other) {
    if (other == rank()) continue;
    if (bytes_of(rank()) > 0) sends.push_back({other, begin_of(rank()), bytes_of(rank())});
    if (bytes_of(other) > 0) receives.push_back({other, begin_of(other), bytes_of(other)});
  }
  exchange(sends, receives);
}

std::vector<std::string> Communicator::all_texts(const std::string& own) {
  const std::vector<std::int64_t> lengths = all_numbers(std::ssize(own));
  PartOffsets offsets = {0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  std::string joined(offsets.back(), '\0');
  std::copy(own.begin(), own.end(), joined.begin() + offsets[rank()]);
  all_gather(std::span(joined.data(), joined.size()), offsets);
  std::vector<std::string> texts;
  for (int part = 0; part < size_; ++part) {
    texts.push_back(joined.substr(offsets[part], lengths[part]));
  }
  return texts;
}

// Each rank adds up a part of the elements, then all gather the parts.
template <class T>
void Communicator::sum(std::span<T> values) {
  if (size_ == 1) return;
  const std::int64_t count = std::ssize(values);
  PartOffsets offsets;
  for (int part = 0; part <= size_; ++part) offsets.push_back(count * part / size_);
  const std::int64_t begin = offsets[rank()];
  const std::int64_t own = offsets[rank() + 1] - begin;
  std::vector<std::vector<T>> of_rank(size_);
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int other = 0; other < size_; ++other) {
    if (other == rank()) {
      of_rank[other].assign(values.begin() + begin, values.begin() + begin + own);
      continue;
    }
    of_rank[other].resize(own);
    const auto bytes = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t theirs = offsets[other + 1] - offsets[other];
    if (theirs > 0) sends.push_back({other, values.data() + offsets[other], theirs * bytes});
    if (own > 0) receives.push_back({other, of_rank[other].data(), own * bytes});
  }
  exchange(sends, receives);
  for (std::int64_t k = 0; k < own; ++k) {
    double total = 0;
    for (int part = 0; part < size_; ++part) total += static_cast<double>(of_rank[part][k]);
    values[begin + k] = static_cast<T>(total);
  }
  all_gather(values, offsets);
}

void Communicator::all_sum(std::span<double> values) { sum(values); }
void Communicator::all_sum(std::span<float> values) { sum(values); }
void Communicator::all_sum(std::span<std::int64_t> values) { sum(values); }

std::int64_t Communicator::all_min(std::int64_t own) {
  const std::vector<std::int64_t> values = all_numbers(own);
  return *std::min_element(values.begin(), values.end());
}

std::vector<std::int64_t> Communicator::all_numbers(std::int64_t own) {
  std::vector<std::int64_t> values(size_, 0);
  values[rank()] = own;
  PartOffsets one_each(size_ + 1);
  for (int part = 0; part <= size_; ++part) one_each[part] = part;
  all_gather(std::span(values), one_each);
  return values;
}

void Communicator::shift(const void* out, std::int64_t bytes_out, void* in, std::int64_t bytes_in) {
  if (size_ == 1) {
    std::memmove(in, out, std::min(bytes_in, bytes_out));
    return;
  }
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  if (bytes_out > 0) sends.push_back({(rank() + 1) % size_, out, bytes_out});
  if (bytes_in > 0) receives.push_back({(rank() + size_ - 1) % size_, in, bytes_in});
  exchange(sends, receives);
}

void Communicator::send(int to, std::span<const std::byte> bytes) {
  const Outgoing one = {to, bytes.data(), std::ssize(bytes)};
  exchange({&one, 1}, {});
}

void Communicator::receive(int from, std::span<std::byte> bytes) {
  const Incoming one = {from, bytes.data(), std::ssize(bytes)};
  exchange({}, {&one, 1});
}

void Communicator::await(int from, std::span<std::byte> bytes) {
  const Incoming one = {from, bytes.data(), std::ssize(bytes)};
  links_->exchange({}, {&one, 1}, 0);
}

void Communicator::send_text(int to, const std::string& text) {
  const std::int64_t length = std::ssize(text);
  send(to, std::as_bytes(std::span(&length, 1)));
  if (length > 0) send(to, std::as_bytes(std::span(text)));
}

std::string Communicator::receive_text(int from) {
  std::int64_t length = 0;
  receive(from, std::as_writable_bytes(std::span(&length, 1)));
  std::string text(length, '\0');
  if (length > 0) receive(from, std::as_writable_bytes(std::span(text)));
  return text;
}

void Communicator::agree(const std::function<void()>& action) {
  std::optional<Fault> own;
  try {
    action();
  } catch (...) {
    if (size_ == 1) throw;
    own = current_fault(rank());
  }
  if (size_ == 1) return;
  const std::vector<std::string> texts =
      all_texts(own ? static_cast<char>(own->kind) + own->message : std::string());
  const auto failed = [](const std::string& text) { return !text.empty(); };
  const auto first = std::find_if(texts.begin(), texts.end(), failed);
  if (first == texts.end()) return;
  const auto kind = static_cast<ErrorKind>(first->front());
  const std::string message = first->substr(1);
  const bool same = std::all_of(texts.begin(), texts.end(),
                                [&](const std::string& text) { return text == *first; });
  if (same) throw Error(kind, message);
  fail(kind, "rank {}: {}", first - texts.begin(), message);
}

void Communicator::announce(const Fault& fault) noexcept {
  if (links_) links_->announce(fault);
}

void Communicator::end_others(int exit_code) noexcept {
  if (links_) links_->end_others(exit_code);
}

}  // namespace mf
