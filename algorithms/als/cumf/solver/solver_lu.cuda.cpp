// LU by cuBLAS.
#include <algorithm>

#include "algorithms/als/cumf/solver/batch_solver.hpp"
#include "algorithms/core/cuda/library_check.hpp"
#include "algorithms/core/cuda/memory.hpp"

namespace mf::als {
namespace {

class LuSolver : public BatchSolver {
 public:
  LuSolver(std::int32_t factors, std::int64_t capacity, float* a, float* b, cudaStream_t stream)
      : pointers_(factors, capacity, a, b, stream), info_(capacity) {
    MF_LIBRARY(cublasCreate(&handle_));
  }
  ~LuSolver() override { cublasDestroy(handle_); }
  LuSolver(const LuSolver&) = delete;
  LuSolver& operator=(const LuSolver&) = delete;

  void solve(const Systems& systems, cudaStream_t stream) override {
    MF_LIBRARY(cublasSetStream(handle_, stream));
    const int f = systems.factors;
    const int lda = static_cast<int>(a_pitch(AStorage::fp32, f));
    const int ldb = static_cast<int>(row_stride(f, sizeof(float)));
    for (std::int64_t first = 0; first < systems.count; first += kMostAtOnce) {
      const int count = static_cast<int>(std::min(kMostAtOnce, systems.count - first));
      float** a = pointers_.a.data() + first;
      float** b = pointers_.b.data() + first;
      MF_LIBRARY(cublasSgetrfBatched(handle_, f, a, lda, nullptr, info_.data() + first, count));
      int argument = 0;  // the number of a bad argument, if one is
      MF_LIBRARY(cublasSgetrsBatched(handle_, CUBLAS_OP_N, f, 1, a, lda, nullptr, b, ldb, &argument,
                                     count));
      if (argument != 0) fail(ErrorKind::device, "cuBLAS: getrsBatched: bad argument {}", argument);
    }
    launch_scatter(systems, info_.data(), stream);
  }

 private:
  cublasHandle_t handle_ = nullptr;
  SystemPointers pointers_;
  cuda::DeviceBuffer<int> info_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_lu_solver(std::int32_t factors, std::int64_t capacity, float* a,
                                            float* b, cudaStream_t stream) {
  return std::make_unique<LuSolver>(factors, capacity, a, b, stream);
}

}  // namespace mf::als
