// The recurrence of dual.hpp: CG on the coordinates of vectors v = Theta^T a + b r_0. dual.cu runs
// it in a warp, tests in vectors of the host. A space has
//   Number, Vector (of a number a pair), with add(y, a, x), y += a x, and scale(y, a)
//   product(w, ww)         K w, rounded as the space rounds; w.w is ww or less, but for rounding
//   most                   |V Theta v|^2 is at most that times v.v
//   weigh(g)               V g
//   sum(x, y)              x.y
//   sums(w, p, r, h, u)    w.p, w.r, w.h, w.u, as x, y, z, w of the result
//   inverse(x), kLeastInverted     1 / x of x above that
#pragma once

#include <cmath>

// Spaces of a device are of warps: nothing there is compiled for the host.
#ifdef __CUDACC__
#define MF_DUAL __device__ __forceinline__
#else
#define MF_DUAL inline
#endif

namespace mf::als {

template <class Number>
struct DualRule {
  Number shrink;  // above 0: without it, the rounding error of r.r is divided by nothing
  int steps;
  Number tolerance;  // of |r|; 0: all steps are done
};

// x_0, as the pairs see it.
template <class Space>
struct DualStart {
  typename Space::Vector s;   // t - V Theta x_0, so that r_0 = Theta^T s - shrink x_0
  typename Space::Vector g;   // Theta x_0
  typename Space::Vector d;   // Theta r_0
  typename Space::Number rr;  // r_0.r_0
};

// x - x_0 = Theta^T a + b r_0.
template <class Space>
struct DualFound {
  typename Space::Vector a = {};
  typename Space::Number b = 0;
};

// The gap between K s and d + shrink g, which are found without K. Solutions are near (a, b) = (-s,
// 1) / shrink, whose parts nearly cancel, so a K of another K s would enlarge its rounding by |K| /
// shrink. The symmetric change of least norm that mends it (Powell, Symmetric Broyden) adds e (u.w)
// + u (e.w) to K w.
template <class Space>
struct DualMend {
  typename Space::Vector e, u;

  MF_DUAL DualMend(Space& space, const DualStart<Space>& start, typename Space::Number shrink)
      : u(start.s) {
    using Number = typename Space::Number;
    const Number ss = space.sum(u, u);
    e = space.product(u, ss);
    scale(e, Number(-1));
    add(e, Number(1), start.d);
    add(e, shrink, start.g);
    scale(u, ss > Space::kLeastInverted ? Space::inverse(ss) : Number(0));
    add(e, -ss / 2 * space.sum(u, e), u);
  }
};

// CG as in cg.cuh. r.r and p.p follow from the step before: as sums over coordinates they would be
// differences of numbers as large as r_0.r_0.
template <class Space>
MF_DUAL DualFound<Space> solve_dual(Space& space, const DualStart<Space>& start,
                                    const DualRule<typename Space::Number>& rule) {
  using Number = typename Space::Number;
  using Vector = typename Space::Vector;
  const DualMend<Space> mend(space, start, rule.shrink);
  DualFound<Space> x, p, r;
  p.b = r.b = 1;
  Vector p_g = start.d;  // Theta p, Theta r
  Vector r_g = start.d;
  Number rr = start.rr;
  Number pp = rr;
  const Number least = rule.tolerance > 0 ? rule.tolerance * rule.tolerance : -INFINITY;
  for (int step = 0; step < rule.steps; ++step) {
    const Vector w = space.weigh(p_g);
    Vector h = space.product(w, space.most * pp);
    const auto dot = space.sums(w, p_g, r_g, h, mend.u);
    const Number w_e = space.sum(w, mend.e);
    add(h, dot.w, mend.e);
    add(h, w_e, mend.u);
    const Number w_h = dot.z + 2 * dot.w * w_e;
    const Number p_ap = dot.x + rule.shrink * pp;
    const Number r_ap = dot.y + rule.shrink * rr;
    const Number ap_ap = w_h + rule.shrink * (2 * dot.x + rule.shrink * pp);
    // NaN stays, so that the run ends as diverged.
    if (p_ap <= Space::kLeastInverted || rr <= 0) break;
    const Number by = Space::inverse(p_ap);
    const Number alpha = rr * by;
    const Number before = rr;
    add(x.a, alpha, p.a);
    x.b += alpha * p.b;
    rr += alpha * (alpha * ap_ap - 2 * r_ap);
    if (!(rr >= least)) break;
    add(r.a, -alpha, w);
    add(r.a, -alpha * rule.shrink, p.a);
    r.b -= alpha * rule.shrink * p.b;
    add(r_g, -alpha, h);
    add(r_g, -alpha * rule.shrink, p_g);
    const Number beta = (alpha * ap_ap - r_ap) * by;
    pp = (rr > Number(1e-8) * before ? rr : Number(1e-8) * before) + beta * beta * pp;
    scale(p.a, beta);
    add(p.a, Number(1), r.a);
    p.b = r.b + beta * p.b;
    scale(p_g, beta);
    add(p_g, Number(1), r_g);
  }
  return x;
}

}  // namespace mf::als

#undef MF_DUAL
