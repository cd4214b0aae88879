// Cholesky by cuSOLVER: potrfBatched, then potrsBatched, which takes one right-hand side, as here.
#include <algorithm>

#include "algorithms/als/cumf/solver/batch_solver.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::als {
namespace {

class CholeskySolver : public BatchSolver {
 public:
  CholeskySolver(std::int32_t factors, std::int64_t capacity, float* a, float* b,
                 cudaStream_t stream)
      : pointers_(factors, capacity, a, b, stream), info_(capacity), argument_(1) {
    MF_LIBRARY(cusolverDnCreate(&handle_));
  }
  ~CholeskySolver() override { cusolverDnDestroy(handle_); }
  CholeskySolver(const CholeskySolver&) = delete;
  CholeskySolver& operator=(const CholeskySolver&) = delete;

  void solve(const Systems& systems, cudaStream_t stream) override {
    MF_LIBRARY(cusolverDnSetStream(handle_, stream));
    const int f = systems.factors;
    const int lda = static_cast<int>(a_pitch(AStorage::fp32, f));
    const int ldb = static_cast<int>(row_stride(f, sizeof(float)));
    for (std::int64_t first = 0; first < systems.count; first += kMostAtOnce) {
      const int count = static_cast<int>(std::min(kMostAtOnce, systems.count - first));
      float** a = pointers_.a.data() + first;
      float** b = pointers_.b.data() + first;
      MF_LIBRARY(cusolverDnSpotrfBatched(handle_, CUBLAS_FILL_MODE_LOWER, f, a, lda,
                                         info_.data() + first, count));
      MF_LIBRARY(cusolverDnSpotrsBatched(handle_, CUBLAS_FILL_MODE_LOWER, f, 1, a, lda, b, ldb,
                                         argument_.data(), count));
    }
    launch_scatter(systems, info_.data(), stream);
  }

 private:
  cusolverDnHandle_t handle_ = nullptr;
  SystemPointers pointers_;
  cuda::DeviceBuffer<int> info_;      // of each system
  cuda::DeviceBuffer<int> argument_;  // of potrsBatched
};

}  // namespace

std::unique_ptr<BatchSolver> make_cholesky_solver(std::int32_t factors, std::int64_t capacity,
                                                  float* a, float* b, cudaStream_t stream) {
  return std::make_unique<CholeskySolver>(factors, capacity, a, b, stream);
}

}  // namespace mf::als
