// items_per_second is rating updates a second.
//   sharing/<what>/<model>/pad:<n>/<threads>/<f>  the loop of hogwild on a look-alike of ml-1m, by
//                                    the rows its threads share: rows (any, as hogwild),
//                                    only users or only items, or nothing. n cache lines lie unused
//                                    between rows. A thread has the same ratings, whether it runs
//                                    alone or with others, so two threads over one tell the cost of
//                                    sharing.
//
// Larger shapes by environment: MFBENCH_BENCH_LIKE (a look-alike's name), MFBENCH_BENCH_SCALE (its
// scale factor).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/core/rows.hpp"
#include "algorithms/sgd_cpu/row_store.hpp"
#include "algorithms/sgd_cpu/settings.hpp"
#include "algorithms/sgd_cpu/shuffle.hpp"
#include "base/rng.hpp"
#include "testing/bench_env.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr int kSharers = 2;

bool shares_users(const std::string& what) { return what == "rows" || what == "users"; }
bool shares_items(const std::string& what) { return what == "rows" || what == "items"; }

// Contiguous rows, so that a prefetcher's reads beyond the end of one mostly hit the thread's own
// rows.
int sharer_of(std::int32_t row, std::int32_t rows) {
  return static_cast<int>(std::int64_t{row} * kSharers / rows);
}

// The ratings of each of kSharers threads, in random order, as many for each: of its own users, of
// its own items, or any.
std::vector<std::vector<Rating>> shares_of(const Ratings& train, const std::string& what) {
  std::vector<Rating> order(train.nnz());
  for (std::int64_t k = 0; k < train.nnz(); ++k) order[k] = train[k];
  Rng rng(1);
  fisher_yates(order.data(), std::ssize(order), rng);
  std::vector<std::vector<Rating>> shares(kSharers);
  for (std::int64_t k = 0; k < std::ssize(order); ++k) {
    const int of_user = sharer_of(order[k].user, train.n_users());
    const int of_item = sharer_of(order[k].item, train.n_items());
    if (shares_users(what) && shares_items(what)) {
      shares[k % kSharers].push_back(order[k]);
    } else if (shares_users(what)) {
      shares[of_item].push_back(order[k]);
    } else if (shares_items(what) || of_user == of_item) {
      shares[of_user].push_back(order[k]);
    }
  }
  const auto smallest = std::min_element(shares.begin(), shares.end(),
                                         [](auto& a, auto& b) { return a.size() < b.size(); });
  const std::size_t count = smallest->size();
  for (auto& share : shares) share.resize(count);
  return shares;
}

AlignedVector<float> start_values(std::int64_t count) {
  AlignedVector<float> values(count);
  for (std::int64_t k = 0; k < count; ++k) values[k] = 0.05F + 0.01F * static_cast<float>(k % 7);
  return values;
}

void run_sharing(benchmark::State& state, const std::string& what, bool biased, int pad_lines,
                 int threads, int factors) {
  const Ratings& train = bench_look_alike("ml-1m", "1");
  const auto shares = shares_of(train, what);
  const std::int64_t stride =
      row_stride(factors, sizeof(float), kLineBytes) + pad_lines * kLineBytes / 4;
  AlignedVector<float> p = start_values(train.n_users() * stride);
  AlignedVector<float> q = start_values(train.n_items() * stride);
  AlignedVector<float> user_bias = start_values(train.n_users());
  AlignedVector<float> item_bias = start_values(train.n_items());
  const Rows rows{
      p.data(), q.data(), biased ? user_bias.data() : nullptr, biased ? item_bias.data() : nullptr,
      stride,   factors};
  const Step step = step_at(0.001, {0.02, 0.02, 0.02, 0.02}, biased ? 3.5 : 0);
  const StreamKernel loop = kernels(choose_isa("auto"), factors, biased).stream;
  ThreadTeam team(threads);
  for (auto _ : state) {
    team.run(
        [&](int thread) { loop(rows, step, shares[thread].data(), std::ssize(shares[thread])); });
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * threads * std::ssize(shares[0]));
}

void register_sharing(const std::string& what, bool biased, int pad_lines, int factors) {
  for (int threads = 1; threads <= kSharers; ++threads) {
    const std::string name = "sharing/" + what + (biased ? "/biased" : "/plain") +
                             "/pad:" + std::to_string(pad_lines) + "/" + std::to_string(threads) +
                             "/" + std::to_string(factors);
    add_bench(name, [=](benchmark::State& state) {
      run_sharing(state, what, biased, pad_lines, threads, factors);
    });
  }
}

bool register_all() {
  for (const char* what : {"rows", "users", "items", "nothing"}) {
    for (const int factors : {16, 32, 64, 128, 256}) register_sharing(what, false, 0, factors);
    for (const bool biased : {false, true}) register_sharing(what, biased, 2, 128);
    register_sharing(what, true, 0, 128);
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace mf::sgd_cpu
