// Owned memory, streams and graphs, and their error messages.
#include <vector>

#include "algorithms/core/cuda/memory.hpp"
#include "algorithms/core/cuda/stream.hpp"
#include "algorithms/core/cuda/test/kernels.hpp"
#include "base/error.hpp"
#include "testing/cuda/testing.hpp"

namespace mf::cuda {
namespace {

TEST(DeviceBuffer, CountsItsBytes) {
  reset_peak_allocated_bytes();
  const std::int64_t before = allocated_bytes();
  {
    DeviceBuffer<float> a(1000);
    EXPECT_EQ(allocated_bytes() - before, 4000);
    DeviceBuffer<float> b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): the moved-from state
    EXPECT_EQ(allocated_bytes() - before, 4000);
  }
  EXPECT_EQ(allocated_bytes(), before);
  EXPECT_EQ(peak_allocated_bytes() - before, 4000);
}

std::size_t free_of_driver() {
  std::size_t free = 0;
  std::size_t total = 0;
  MF_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

TEST(DeviceBuffer, WhatIsReservedDoesNotComeFromTheDriverAgain) {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  reserve(kBytes);
  const std::size_t before = free_of_driver();
  {
    const DeviceBuffer<std::byte> half(kBytes / 2), quarter(kBytes / 4);
    EXPECT_EQ(free_of_driver(), before);
  }
  reserve(kBytes);
  EXPECT_EQ(free_of_driver(), before) << "it is there";
  reserve(std::int64_t{1} << 50);  // more than there is: nothing happens
  const DeviceBuffer<std::byte> small(1000);
}

TEST(DeviceBuffer, SaysHowMuchIsMissing) {
  try {
    const DeviceBuffer<char> all(std::int64_t{1} << 50);
    FAIL() << "a petabyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("free"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "a failed allocation must not reach the next check";
}

TEST(Stream, CopiesThereAndBack) {
  const Stream stream;
  std::vector<int> numbers(1000);
  for (int i = 0; i < 1000; ++i) numbers[i] = i;
  auto device = upload(View<const int>(numbers), stream.get());
  launch_add_one(device.data(), 1000, stream.get());
  download(View<int>(numbers), device.data(), stream.get());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(numbers[i], i + 1);
}

TEST(Graph, ReplaysWhatWasCaptured) {
  const Stream stream;
  std::vector<int> zero(1, 0);
  auto device = upload(View<const int>(zero), stream.get());
  Graph graph;
  graph.capture(stream.get(), [&] {
    for (int i = 0; i < 5; ++i) launch_add_one(device.data(), 1, stream.get());
  });
  for (int i = 0; i < 3; ++i) graph.launch(stream.get());
  download(View<int>(zero), device.data(), stream.get());
  EXPECT_EQ(zero[0], 15);
}

TEST(Event, MeasuresTheStream) {
  const Stream stream;
  const Event start;
  const Event stop;
  start.record(stream.get());
  stop.record(stream.get());
  stop.synchronize();
  EXPECT_GE(stop.seconds_since(start), 0);
  EXPECT_LT(stop.seconds_since(start), 1);
}

TEST(Check, NamesTheCallAndTheCause) {
  try {
    MF_CUDA(cudaSetDevice(12345));
    FAIL() << "there is no such device";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(std::string(error.what()).find("cudaSetDevice(12345)"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cuda_gputest.cuda.cpp"), std::string::npos);
  }
  cudaGetLastError();
}

}  // namespace
}  // namespace mf::cuda
