#include "algorithms/ials/post/settings.hpp"

namespace mf::ials {
namespace {

std::vector<ParamSpec> ials_params() {
  return join_params(
      common_params(),
      {cg_steps_param(),
       ParamSpec::choice("solve", Solve::cg, kSolves,
                         "cg: A_u applied to vectors, never formed (the post); hermitian: A_u "
                         "formed, then solved (cuMF_ALS)"),
       ParamSpec::choice("dot", Dot::shuffle, kDots,
                         "solve cg: y.x of a pair is summed over the block by atomicAdd or "
                         "shuffles, or by the one warp that takes the pair (ours)"),
       ParamSpec::choice("gram_access", GramAccess::coalesced, kGramAccesses,
                         "solve cg: threads read the Gram matrix by rows or by columns; dot "
                         "warp has one way"),
       ParamSpec::boolean("prefetch", true,
                          "solve cg: the next pair is read before the sum of this one; false: "
                          "the post's loop"),
       ParamSpec::integer("blocks", 1024, 1, 1 << 20,
                          "solve cg: thread blocks, which stride over the rows", "blocks"),
       ParamSpec::choice("solver", Solver::cg, kSolvers,
                         "solve hermitian: cg_steps of CG, or Cholesky"),
       ParamSpec::constant("batch_rows", std::int64_t{0}),
       ParamSpec::integer("split_rows", 8192, 0, std::int64_t{1} << 31,
                          "solve hermitian: longer rows are cut over several thread blocks; 0: "
                          "never",
                          "pairs")});
}

Params als_params_of(const IalsSettings& settings) {
  Params params = default_params(als::als_params());
  params.set("factors", std::int64_t{settings.common.factors});
  params.set("reg", 0.0);
  params.set("cg_steps", std::int64_t{settings.common.cg.steps});
  params.set("cg_tolerance", 0.0);
  params.set("solver", kSolvers.of(settings.solver));
  params.set("batch_rows", settings.batch_rows);
  params.set("split_rows", settings.split_rows);
  return params;
}

std::optional<std::string> ials_why_unsupported(const Params& params, const ProblemShape&) {
  const IalsSettings settings = read_ials_settings(params);
  const bool cholesky = settings.solver == Solver::cholesky;
  if (settings.solve == Solve::cg) {
    if (settings.common.factors > kMostPostFactors && settings.variant.dot != Dot::warp) {
      return "dot \"" + params.choice("dot") + "\" has a thread a factor, for at most " +
             std::to_string(kMostPostFactors) + " factors; found " +
             std::to_string(settings.common.factors) + "; use dot \"warp\", or solve \"hermitian\"";
    }
    if (!cholesky) return std::nullopt;
    return "solver cholesky factorizes A_u, which solve cg never forms; use solve hermitian";
  }
  if (cholesky && static_cast<float>(settings.common.loss.reg) == 0) {
    return "reg is 0 in fp32, with solver cholesky: A_u is singular if the other side has fewer "
           "independent rows than factors; use reg above 0, or solver cg";
  }
  return std::nullopt;
}

MemoryUse ials_memory(const Params& params) {
  const IalsSettings settings = read_ials_settings(params);
  if (settings.solve == Solve::hermitian) return als::als_memory(als_params_of(settings));
  return {.device = {.preparing = 32, .rating = 16, .number = 4, .row = 8}};
}

}  // namespace

AlgorithmInfo ials_info() {
  AlgorithmInfo info = shared_info("ials");
  info.summary =
      "implicit ALS on a GPU: CG on A_u as it is applied, a thread block a row; or A_u formed";
  info.paper =
      "Y. Hu, Y. Koren, C. Volinsky, \"Collaborative Filtering for Implicit Feedback Datasets\", "
      "ICDM 2008; solve cg: B. Frederickson's post of 15 November 2017 on matrix factorization on "
      "the GPU; solve hermitian: W. Tan et al., \"Matrix Factorization on GPUs with Memory "
      "Optimization and Approximate Computing\", ICPP 2018, section 5.6";
  info.hardware = Hardware::cuda;
  info.phases = {"gram", "hermitian", "bias", "solve"};
  info.starts_by_rule = true;
  info.deterministic = false;  // dot atomic adds in any order; the others are
  info.params = ials_params();
  info.supports = ials_why_unsupported;
  info.memory = ials_memory;
  return info;
}

IalsSettings read_ials_settings(const Params& params) {
  return {read_common(params),
          params.choice("solve", kSolves),
          {params.choice("dot", kDots), params.choice("gram_access", kGramAccesses),
           params.boolean("prefetch"), params.integer("blocks")},
          read_solver(params),
          params.integer("batch_rows"),
          params.integer("split_rows")};
}

als::AlsSettings als_settings_of(const IalsSettings& settings) {
  return als::read_als_settings(als_params_of(settings));
}

}  // namespace mf::ials
