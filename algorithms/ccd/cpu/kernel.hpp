// The inner loops of a pass, one build per instruction set, chosen at run time.
//
// Plain data and templates only: this header is included by files compiled for AVX, and an inline
// function could be emitted there and then linked into code for every CPU.
#pragma once

#include <cstdint>

namespace mf {
enum class Isa;  // base/host/isa.hpp
}

namespace mf::ccd::cpu {

// Numerator and denominator of a row's new number: sums of R^ v and of v^2.
struct Sums {
  float numerator;
  float denominator;
};

// Ratings one after another, of one row and one tile.
struct Run {
  const std::uint16_t* narrow;  // index of the other row in its tile; null: `wide` has it
  const std::int32_t* wide;
  float* residual;
  std::int64_t count;
};

// Vectors of the other side, from the first row of the tile on, and the row's own numbers.
struct Vectors {
  const float* held;  // v'
  const float* old;   // v, as R^ is made with it
  const float* now;   // v, as in the sums
  float own_held;     // u'
  float own;          // u
};

struct Kernels {
  Sums (*exchange)(const Run&, const Vectors&);  // R += u v - u' v', then the sums with `now`
  Sums (*sums)(const Run&, const Vectors&);      // with `now`
  void (*change)(const Run&, const Vectors&);    // R += u v
};

Kernels kernels(Isa isa);

// Defined in the file compiled for each instruction set.
Kernels scalar_kernels();
Kernels avx2_kernels();
Kernels avx512_kernels();

}  // namespace mf::ccd::cpu
