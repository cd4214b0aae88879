// Collective operations of ranks, over the links of any backend (base/ranks/rank_links.hpp). Every
// operation is called by all ranks of the communicator, in the same order. Sums are added in the
// order of the ranks: the same on every rank and in every run.
//
// All of them throw RankFault when another rank has failed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ranks/rank_links.hpp"

namespace mf {

// The offsets at which the ranks' parts of an array begin, and the end of the last: size() + 1
// numbers. Parts may be empty.
using PartOffsets = std::vector<std::int64_t>;

class Communicator {
 public:
  Communicator() = default;  // a single process
  explicit Communicator(std::shared_ptr<RankLinks> links);

  int rank() const { return links_ ? links_->rank() : 0; }
  int size() const { return size_; }
  bool leads() const { return rank() == 0; }

  // Its first `count` ranks. Only these use it.
  Communicator first(int count) const;

  void barrier();

  // From rank `root` to all others.
  void broadcast(std::span<std::byte> bytes, int root);
  template <class T>
  void broadcast(T& value, int root = 0) {
    broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
  }

  // Each rank has filled its part of `data`; all get all. Offsets count elements.
  template <class T>
  void all_gather(std::span<T> data, const PartOffsets& offsets) {
    gather_bytes(std::as_writable_bytes(data), offsets, sizeof(T));
  }

  // The text of every rank, on all.
  std::vector<std::string> all_texts(const std::string& own);

  // Element by element over the ranks; floats are added in double and rounded once.
  void all_sum(std::span<double> values);
  void all_sum(std::span<float> values);
  void all_sum(std::span<std::int64_t> values);  // exact below 2^53
  std::int64_t all_min(std::int64_t own);

  // The number of every rank, on all.
  std::vector<std::int64_t> all_numbers(std::int64_t own);

  // These transfers at once, as RankLinks::exchange. Alone: there must be none.
  void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives);

  // To the next rank, from the one before; the ranks are a ring. Lengths may differ: `bytes_in` is
  // the length sent by the rank before.
  void shift(const void* out, std::int64_t bytes_out, void* in, std::int64_t bytes_in);

  // From the others only to rank 0, and from it to one of them.
  void send(int to, std::span<const std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  // Waits as long as it takes: for a rank that is idle until rank 0's next order.
  void await(int from, std::span<std::byte> bytes);
  void send_text(int to, const std::string& text);
  std::string receive_text(int from);

  // Runs `action` on all ranks. If it threw on any, all throw: the error itself if all have the
  // same, else the first rank's, "rank 2: ...". `action` must not use the communicator. The links
  // stay usable.
  void agree(const std::function<void()>& action);

  // After this rank failed, or heard that another did: the others throw RankFault at once.
  void announce(const Fault& fault) noexcept;
  std::optional<Fault> heard() { return links_ ? links_->heard() : std::nullopt; }
  void end_others(int exit_code) noexcept;

  // The same ranks for objects kept() by their links: does not keep the links alive.
  Communicator borrowed() const;

  // RankLinks::kept of these ranks. Not of a single process.
  std::shared_ptr<void>& kept() { return links_->kept(size_); }

 private:
  void gather_bytes(std::span<std::byte> data, const PartOffsets& offsets, std::int64_t element);
  template <class T>
  void sum(std::span<T> values);

  std::shared_ptr<RankLinks> links_;  // null: a single process
  int size_ = 1;
};

// The kind and the text of the exception being handled.
Fault current_fault(int rank);

}  // namespace mf
