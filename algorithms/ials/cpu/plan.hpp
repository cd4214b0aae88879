// How CG without A goes through the rows of a side: in groups that take their steps together, so
// that their data are still in a cache when they read them again.
//
//   shared   rows too long for one thread (als::cpu::RowPlan): all threads on their parts
//   banded   a thread's rows whose pairs do not fit its cache: all of them go through the other
//            side's rows in bands, which do
//   others   a few rows of a thread, whose pairs do: they stay there for all steps
//
// A row's sums are taken in its own order, in parts of als::cpu::part_count, in any group. So
// neither groups nor threads change a bit of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/als/cpu/plan.hpp"

namespace mf::ials::cpu {

struct Group {
  std::int64_t first, last;  // positions in RowPlan::rows
  bool banded;
};

struct CgPlan {
  als::cpu::RowPlan order;    // rows, longest first; how many of them are shared
  std::vector<Group> groups;  // of the others
  std::int64_t band_rows = 0;
};

// `others` rows on the other side, `stride` floats each.
CgPlan make_cg_plan(const als::Side& side, std::int64_t others, std::int64_t stride, int threads);

}  // namespace mf::ials::cpu
