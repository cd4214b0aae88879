#include "algorithms/ials/fused/row_product.hpp"

#include "algorithms/core/cuda/library_check.hpp"

namespace mf::ials {
namespace {

constexpr std::int64_t kManyRows = 65'536;
constexpr std::uint32_t kAligned = 16;  // bytes, of any row

void allow_alignment(cublasLtMatmulPreference_t wishes) {
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    MF_LIBRARY(cublasLtMatmulPreferenceSetAttribute(wishes, which, &kAligned, sizeof(kAligned)));
  }
}

}  // namespace

// Of M and of `count` rows, which are columns to cuBLAS.
struct RowProduct::Layouts {
  Layouts(const RowProduct& of, std::int64_t count) {
    MF_LIBRARY(
        cublasLtMatrixLayoutInit(&matrix, CUDA_R_32F, of.factors_, of.factors_, of.factors_));
    MF_LIBRARY(cublasLtMatrixLayoutInit(&rows, CUDA_R_32F, of.factors_, count, of.stride_));
  }
  cublasLtMatrixLayoutOpaque_t matrix = {};
  cublasLtMatrixLayoutOpaque_t rows = {};
};

RowProduct::RowProduct(cublasContext* handle, bool transposed, std::int32_t factors,
                       std::int64_t stride, bool tf32, cudaStream_t stream)
    // A handle of cuBLAS is one of cublasLt, by its documentation.
    : handle_(reinterpret_cast<cublasLtHandle_t>(handle)),
      factors_(factors),
      stride_(stride),
      stream_(stream) {
  MF_LIBRARY(cublasLtMatmulDescInit(
      &product_, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  MF_LIBRARY(cublasLtMatmulDescSetAttribute(&product_, CUBLASLT_MATMUL_DESC_TRANSA, &operation,
                                            sizeof(operation)));
  Layouts many(*this, kManyRows);
  algorithm_ = algorithm_for(many);
}

// Without a workspace, so that no sum is split by the number of rows.
cublasLtMatmulAlgo_t RowProduct::algorithm_for(Layouts& layouts) {
  cublasLtMatmulPreferenceOpaque_t wishes = {};
  MF_LIBRARY(cublasLtMatmulPreferenceInit(&wishes));
  allow_alignment(&wishes);
  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  MF_LIBRARY(cublasLtMatmulAlgoGetHeuristic(handle_, &product_, &layouts.matrix, &layouts.rows,
                                            &layouts.rows, &layouts.rows, &wishes, 1, &best,
                                            &found));
  MF_LIBRARY(found > 0 ? best.state : CUBLAS_STATUS_NOT_SUPPORTED);
  return best.algo;
}

bool RowProduct::same_kernel(std::int64_t count) {
  Layouts layouts(*this, count);
  cublasLtMatmulHeuristicResult_t result = {};
  return cublasLtMatmulAlgoCheck(handle_, &product_, &layouts.matrix, &layouts.rows, &layouts.rows,
                                 &layouts.rows, &algorithm_, &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize == 0;
}

void RowProduct::run(const float* matrix, float factor, const float* from, std::int64_t count,
                     float* to) {
  if (count == 0) return;
  Layouts layouts(*this, count);
  const cublasLtMatmulAlgo_t algorithm = same_kernel(count) ? algorithm_ : algorithm_for(layouts);
  const float zero = 0;
  MF_LIBRARY(cublasLtMatmul(handle_, &product_, &factor, matrix, &layouts.matrix, from,
                            &layouts.rows, &zero, to, &layouts.rows, to, &layouts.rows, &algorithm,
                            nullptr, 0, stream_));
}

}  // namespace mf::ials
