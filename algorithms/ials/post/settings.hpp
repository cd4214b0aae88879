// The parameters of `ials`, resolved, and its description.
#pragma once

#include <cstdint>

#include "algorithms/als/cumf/settings.hpp"
#include "algorithms/ials/post/variants.hpp"
#include "algorithms/ials/settings.hpp"

namespace mf::ials {

// How a row is solved.
enum class Solve {
  cg,         // the post: A_u applied to vectors, never formed
  hermitian,  // cuMF_ALS: A_u formed, then solved
};
inline constexpr Names kSolves{
    std::to_array<Named<Solve>>({{"cg", Solve::cg}, {"hermitian", Solve::hermitian}})};
inline constexpr Names kDots{std::to_array<Named<Dot>>(
    {{"atomic", Dot::atomic}, {"shuffle", Dot::shuffle}, {"warp", Dot::warp}})};
inline constexpr Names kGramAccesses{std::to_array<Named<GramAccess>>(
    {{"strided", GramAccess::strided}, {"coalesced", GramAccess::coalesced}})};

struct IalsSettings {
  Common common;
  Solve solve;
  LeastSquaresVariant variant;  // of solve cg
  Solver solver;                // of solve hermitian, as the others
  std::int64_t batch_rows;      // as als has it
  std::int64_t split_rows;      // longer rows are cut into parts; 0: never
};

AlgorithmInfo ials_info();
IalsSettings read_ials_settings(const Params& params);

// The settings of als for solve hermitian: no lambda (it is in the Gram matrix), all steps of CG.
als::AlsSettings als_settings_of(const IalsSettings& settings);

}  // namespace mf::ials
