// Half-steps in double precision from the dense equations, for the algorithms on the device.
#pragma once

#include <functional>
#include <utility>

#include "algorithms/ials/test/reference.hpp"

namespace mf::ials::test {

// One row's system over all rows of the other side.
struct RowSystem {
  Matrix a;
  Vector b;
  bool observed;

  RowSystem(const Matrix& other, const Vector& c, const Vector& p, double reg);
};

// Solves a row's system, x being the row before.
using Solve = std::function<void(const RowSystem& system, Vector& x)>;

// Every row of a side.
void half_step(const Dense& dense, bool users, Matrix& rows, const Matrix& other,
               const Solve& solve);

// P and Q after so many epochs; rows without pairs are zero before the first half-step.
std::pair<Matrix, Matrix> epochs(const Dense& dense, const Model& start, int count,
                                 const Solve& solve);

void solve_exactly(const RowSystem& system, Vector& x);

struct SolveByCg {
  int steps;
  void operator()(const RowSystem& system, Vector& x) const;
};

// Blocks of coordinates in their order, each solved exactly.
struct SolveByBlocks {
  std::int64_t block_size;
  void operator()(const RowSystem& system, Vector& x) const;
};

}  // namespace mf::ials::test
