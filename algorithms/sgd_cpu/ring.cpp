#include "algorithms/sgd_cpu/ring.hpp"

#include <cmath>
#include <utility>

namespace mf::sgd_cpu {
namespace {

std::span<std::byte> bytes_of(const RowStore::Table& table, RowRange rows) {
  return std::as_writable_bytes(
      std::span(table.data + rows.begin * table.stride, rows.size() * table.stride));
}

}  // namespace

Ring::Ring(Communicator* ranks, RowCuts users, RowCuts items)
    : ranks_(ranks),
      size_(ranks != nullptr ? ranks->size() : 1),
      rank_(ranks != nullptr ? ranks->rank() : 0),
      users_(std::move(users)),
      items_(std::move(items)) {}

bool Ring::pass_on(bool done, RowStore& rows, PhaseSink* phases) {
  if (size_ == 1) return done;
  bool all_done = false;
  {
    const PhaseScope scope(phases, "wait_ranks");
    all_done = ranks_->all_min(done ? 1 : 0) == 1;
  }
  if (!all_done) return false;
  const PhaseScope scope(phases, "exchange");
  const int before = (rank_ + size_ - 1) % size_;
  const RowRange out = rows_of(items_, part());
  const RowRange in = rows_of(items_, part_of(before));
  for (const RowStore::Table& table : rows.item_tables()) {
    const auto sent = bytes_of(table, out);
    const auto taken = bytes_of(table, in);
    ranks_->shift(sent.data(), std::ssize(sent), taken.data(), std::ssize(taken));
  }
  stage_ = (stage_ + 1) % size_;
  return true;
}

std::int64_t Ring::sum(std::int64_t own) {
  if (size_ == 1) return own;
  auto all = static_cast<double>(own);  // exact below 2^53
  ranks_->all_sum(std::span<double>(&all, 1));
  return std::llround(all);
}

void Ring::gather(RowStore& rows) {
  if (size_ == 1) return;
  for (const RowStore::Table& table : rows.user_tables()) gather_table(table, users_, false);
  for (const RowStore::Table& table : rows.item_tables()) gather_table(table, items_, true);
}

void Ring::gather_table(const RowStore::Table& table, const RowCuts& cuts, bool items) {
  const auto rows_of_rank = [&](int rank) { return rows_of(cuts, items ? part_of(rank) : rank); };
  for (int other = 1; other < size_; ++other) {
    const auto bytes = bytes_of(table, rows_of_rank(other));
    if (bytes.empty()) continue;
    if (rank_ == 0) ranks_->receive(other, bytes);
    if (rank_ == other) ranks_->send(0, bytes);
  }
}

}  // namespace mf::sgd_cpu
