// Vectors of floats for inner loops whose one source is compiled for several instruction sets: each
// type is there where its instructions are, and all is inlined, so the linker has no code of one
// set to put in the place of another's. Memory is aligned. fma is a b + c, fnma c - a b.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define MF_INLINE [[gnu::always_inline]] inline

namespace mf {

// By the compiler's vectors: SSE2 on every x86-64.
struct Floats4 {
  using Vec [[gnu::vector_size(16)]] = float;
  static constexpr int kWidth = 4;
  MF_INLINE static Vec load(const float* x) { return *reinterpret_cast<const Vec*>(x); }
  MF_INLINE static void store(float* x, Vec v) { *reinterpret_cast<Vec*>(x) = v; }
  MF_INLINE static Vec zero() { return Vec{}; }
  MF_INLINE static Vec set1(float x) { return Vec{x, x, x, x}; }
  MF_INLINE static Vec add(Vec a, Vec b) { return a + b; }
  MF_INLINE static Vec sub(Vec a, Vec b) { return a - b; }
  MF_INLINE static Vec mul(Vec a, Vec b) { return a * b; }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
};

#ifdef __AVX2__
struct Floats8 {
  using Vec = __m256;
  static constexpr int kWidth = 8;
  MF_INLINE static Vec load(const float* x) { return _mm256_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm256_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm256_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm256_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_ps(a, b, c); }
};
#endif

#ifdef __AVX512F__
struct Floats16 {
  using Vec = __m512;
  static constexpr int kWidth = 16;
  MF_INLINE static Vec load(const float* x) { return _mm512_load_ps(x); }
  MF_INLINE static void store(float* x, Vec v) { _mm512_store_ps(x, v); }
  MF_INLINE static Vec zero() { return _mm512_setzero_ps(); }
  MF_INLINE static Vec set1(float x) { return _mm512_set1_ps(x); }
  MF_INLINE static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  MF_INLINE static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  MF_INLINE static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  MF_INLINE static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  MF_INLINE static Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
};
#endif

}  // namespace mf
