// Student's t distribution.
#pragma once

namespace mf {

// P(|T| > t) for t >= 0 and degrees of freedom > 0, which need not be whole.
double student_t_tails(double t, double freedom);

// The t with P(|T| > t) = tails, for 0 < tails < 1.
double student_t_limit(double tails, double freedom);

}  // namespace mf
