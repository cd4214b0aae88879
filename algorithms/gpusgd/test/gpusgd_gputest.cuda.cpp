// The family on the device against the reference on the host, in the same order: bit for bit.
#include <algorithm>
#include <cmath>

#include "algorithms/gpusgd/block_sgd.hpp"
#include "algorithms/gpusgd/test/reference.hpp"
#include "algorithms/gpusgd/test/support.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::gpusgd {
namespace {

constexpr double kRate = 0.02;
constexpr std::uint64_t kSeed = 5;
constexpr Scheme kBoth[] = {Scheme::grouped, Scheme::tree};

Json with_regularizers(Json changes) {
  changes["reg_p"] = 0.1;
  changes["reg_q"] = 0.2;
  return changes;
}

// Packed rows of `width` from device rows of `stride`; the padding must still be zero.
template <class Real>
std::vector<Real> packed_rows(const Real* from, std::int64_t stride, std::int32_t rows,
                              std::int32_t width, cudaStream_t stream) {
  AlignedVector<Real> padded(stride * rows);
  cuda::download(View<Real>(padded), from, stream);
  std::vector<Real> packed;
  for (std::int64_t i = 0; i < stride * rows; ++i) {
    if (i % stride < width) {
      packed.push_back(padded[i]);
    } else {
      EXPECT_EQ(padded[i], Real{0}) << "the padding of a row was written";
    }
  }
  return packed;
}

// A prepared algorithm, and a Reference<Real> of the same parameters.
template <class Real>
struct Pair {
  Settings settings;
  cuda::Stream stream;
  ThreadTeam team{2};
  Context context;
  Model initial;
  Arrangement arrangement;
  BlockSgd<Real> device;
  Reference<Real> reference;

  Pair(Scheme of, const Params& params, const Ratings& train)
      : settings(read_settings(of, params)),
        initial(initial_for(train, params)),
        arrangement(arrange(settings, train)),
        device(settings),
        reference(settings, initial, kRate) {
    context.team = &team;
    context.seed = kSeed;
    context.stream = stream.get();
    device.prepare(train, initial, context);
  }

  void run(std::int64_t epochs) {
    for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
      EXPECT_EQ(device.run_epoch({epoch, kRate}, context), std::ssize(arrangement.ratings));
      reference.run_epoch(arrangement);
    }
    stream.synchronize();
  }

  std::vector<Real> p() { return rows(device.model().p(), initial.n_users); }
  std::vector<Real> q() { return rows(device.model().q(), initial.n_items); }

  void expect_same() {
    EXPECT_TRUE(p() == reference.p);
    EXPECT_TRUE(q() == reference.q);
  }

  // Tells the difference if expect_same fails.
  double largest_difference() {
    double largest = 0;
    const auto take = [&](const std::vector<Real>& a, const std::vector<Real>& b) {
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
      }
    };
    take(p(), reference.p);
    take(q(), reference.q);
    return largest;
  }

 private:
  std::vector<Real> rows(const Real* from, std::int32_t count) {
    const std::int64_t stride = row_stride(settings.factors, sizeof(Real));
    return packed_rows(from, stride, count, settings.factors, stream.get());
  }
};

template <class Real>
void compare(Scheme scheme, const Ratings& train, Json changes, std::int64_t epochs = 2) {
  changes["precision"] = sizeof(Real) == sizeof(double) ? "fp64" : "fp32";
  SCOPED_TRACE(kSchemes.of(scheme) + " " + changes.dump());
  Pair<Real> pair(scheme, params_of(scheme, with_regularizers(std::move(changes))), train);
  pair.run(epochs);
  EXPECT_LE(pair.largest_difference(), sizeof(Real) == sizeof(double) ? 1e-10 : 1e-4);
  pair.expect_same();
}

void compare_both(Scheme scheme, const Ratings& train, const Json& changes) {
  compare<float>(scheme, train, changes);
  compare<double>(scheme, train, changes);
}

TEST(GpuSgd, EqualsTheReferenceForAnyLengthOfRow) {
  const Ratings train = random_matrix(97, 61, 0.15);
  for (const Scheme scheme : kBoth) {
    for (const int factors : {1, 2, 3, 7, 16, 31, 32, 33, 100, 256, 1000, 1024}) {
      compare_both(scheme, train, {{"factors", factors}, {"blocks", 8}});
    }
  }
}

TEST(GpuSgd, EqualsTheReferenceForAnyNumberOfBlocks) {
  const Ratings train = random_matrix(150, 90, 0.15);
  for (const Scheme scheme : kBoth) {
    for (const int blocks : {1, 2, 3, 8, 64, 200}) {
      compare_both(scheme, train, {{"factors", 20}, {"blocks", blocks}});
    }
  }
}

TEST(GpuSgd, EqualsTheReferenceForAnyShape) {
  const std::pair<std::int32_t, std::int32_t> shapes[] = {{1, 50},  {50, 1},  {1, 1},
                                                          {400, 9}, {9, 400}, {64, 64}};
  for (const auto& [m, n] : shapes) {
    const Ratings train = random_matrix(m, n, 0.5);
    ASSERT_GT(train.nnz(), 0);
    for (const Scheme scheme : kBoth) {
      for (const int blocks : {1, 7, 30}) {
        compare_both(scheme, train, {{"factors", 10}, {"blocks", blocks}});
      }
    }
  }
}

TEST(GpuSgd, NoRatingsChangeNothing) {
  const Ratings train = random_matrix(20, 30, 0);
  ASSERT_EQ(train.nnz(), 0);
  for (const Scheme scheme : kBoth) compare_both(scheme, train, {{"blocks", 4}});
}

// Groups larger than a thread block, and thread blocks that are not multiples of a warp.
TEST(GpuSgd, ThreadsOfABlockChangeNothing) {
  const Ratings train = random_matrix(700, 500, 0.1);
  for (const int threads : {1, 7, 16, 32, 100, 256, 1024}) {
    compare_both(Scheme::grouped, train, {{"blocks", 2}, {"threads_per_block", threads}});
  }
}

// Thousands of thread blocks and many diagonals: more than run at the same time.
TEST(GpuSgd, EqualsTheReferenceWithManyBlocks) {
  const Ratings train = random_matrix(3000, 2500, 0.004);
  for (const Scheme scheme : kBoth) {
    compare_both(scheme, train, {{"factors", 16}, {"blocks", 1024}});
  }
}

TEST(GpuSgd, TakesTheLearningRateOfEachEpoch) {
  const Ratings train = random_matrix(60, 60, 0.3);
  for (const Scheme scheme : kBoth) {
    Pair<float> pair(scheme, params_of(scheme, {{"blocks", 4}}), train);
    std::int64_t epoch = 1;
    for (const double rate : {0.02, 0.02, 0.005, 0.02, 0.001}) {
      pair.device.run_epoch({epoch++, rate}, pair.context);
      pair.reference.step = step_at<float>(rate, pair.settings.reg, 0);
      pair.reference.run_epoch(pair.arrangement);
    }
    pair.stream.synchronize();
    pair.expect_same();
  }
}

// The evaluator's view of double precision: the factors, rounded once; anew after each epoch.
TEST(GpuSgd, AViewOfDoublePrecisionIsRounded) {
  const Ratings train = random_matrix(70, 50, 0.2);
  for (const Scheme scheme : kBoth) {
    const Params params = params_of(scheme, {{"factors", 5}, {"blocks", 4}, {"precision", "fp64"}});
    Pair<double> pair(scheme, params, train);
    for (int epoch = 0; epoch < 3; ++epoch) {
      pair.run(1);
      const FactorView view = pair.device.factors();
      EXPECT_EQ(view.location, Location::device);
      EXPECT_EQ(view.mean, pair.initial.mean);
      const auto rounded = [](const std::vector<double>& from) {
        std::vector<float> to;
        for (const double x : from) to.push_back(static_cast<float>(x));
        return to;
      };
      const auto s = pair.stream.get();
      EXPECT_EQ(packed_rows(view.p, view.p_stride, 70, 5, s), rounded(pair.reference.p));
      EXPECT_EQ(packed_rows(view.q, view.q_stride, 50, 5, s), rounded(pair.reference.q));
    }
  }
}

TEST(GpuSgd, IsMadeByNameInTheAskedPrecision) {
  for (const Scheme scheme : kBoth) {
    const auto single = make_algorithm(kSchemes.of(scheme), params_of(scheme, Json::object()));
    EXPECT_NE(dynamic_cast<BlockSgd<float>*>(single.get()), nullptr);
    const auto twice =
        make_algorithm(kSchemes.of(scheme), params_of(scheme, {{"precision", "fp64"}}));
    EXPECT_NE(dynamic_cast<BlockSgd<double>*>(twice.get()), nullptr);
  }
}

TEST(GpuSgd, TellsBlankBlocksAndIdleLanes) {
  const Ratings train = random_matrix(800, 80, 0.3);
  const Pair<float> square(Scheme::grouped, params_of(Scheme::grouped, {{"blocks", 8}}), train);
  EXPECT_EQ(square.device.facts().at("blank_blocks"), 56);
  EXPECT_EQ(square.device.facts().at("padding_blocks"), 56);
  const Pair<float> tree(Scheme::tree, params_of(Scheme::tree, {{"blocks", 8}}), train);
  EXPECT_EQ(tree.device.facts().at("blank_blocks"), 0);
  // f = 16: products, 4 rounds and the update of 32 threads; 16 + 15 + 16 of them have work.
  EXPECT_EQ(tree.device.facts().at("lane_steps"), train.nnz() * 6 * 32);
  EXPECT_EQ(tree.device.facts().at("idle_lane_steps"), train.nnz() * (6 * 32 - 47));
}

}  // namespace
}  // namespace mf::gpusgd
