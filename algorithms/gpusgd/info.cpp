// gpusgd and newgpusgd: names, parameters, memory, work and paper.
#include <fmt/core.h>

#include "algorithms/core/registry.hpp"
#include "algorithms/core/sort_limits.hpp"
#include "algorithms/gpusgd/settings.hpp"

namespace mf::gpusgd {
namespace {

constexpr double kDefaultReg = 0.03;  // lambda of the paper
// Largest l: the table of blocks has l * l entries of 8 bytes, here 512 MiB.
constexpr std::int64_t kMaxBlocks = 8192;
// Scheme::tree: a thread a factor, and a thread block has at most 1024.
constexpr std::int64_t kMaxTreeFactors = 1024;

std::vector<ParamSpec> family_params(Scheme scheme) {
  const bool tree = scheme == Scheme::tree;
  return join_params(
      join_params({tree ? ParamSpec::integer("factors", 16, 1, kMaxTreeFactors,
                                             "length f of the rows of P and Q; a thread each")
                        : factors_param(16, 16384),
                   only_model_param(ModelKind::plain, "p.q, the paper's only")},
                  regularizer_params(kDefaultReg, false)),
      {ParamSpec::constant("reg_user_bias", -1.0), ParamSpec::constant("reg_item_bias", -1.0),
       ParamSpec::integer("blocks", 64, 1, kMaxBlocks,
                          "l: the matrix is cut into l x l blocks, l run together"),
       ParamSpec::choice("precision", Precision::fp32, kPrecisions,
                         "type of factors and arithmetic; ratings are fp32"),
       tree ? ParamSpec::constant("order", "sorted")
            : ParamSpec::integer("threads_per_block", 256, 1, 1024,
                                 "threads over the ratings of a group", "threads")});
}

AlgorithmInfo family_info(Scheme scheme, const std::string& summary, const std::string& paper) {
  AlgorithmInfo info;
  info.name = kSchemes.of(scheme);
  info.family = "gpusgd";
  info.title = "GPUSGD and NewGPUSGD";
  info.summary = summary;
  info.paper = paper;
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.deterministic = true;
  info.params = family_params(scheme);
  info.supports = [](const Params&, const ProblemShape& shape) -> std::optional<std::string> {
    if (shape.nnz <= kMostSorted) return std::nullopt;
    return fmt::format("{} ratings, at most {} can be put in order", shape.nnz, kMostSorted);
  };
  info.memory = [scheme](const Params& params) {
    const Settings settings = read_settings(scheme, params);
    const bool wide = settings.precision == Precision::fp64;
    const auto blocks = static_cast<double>(settings.blocks);
    return MemoryUse{.device = {.preparing = scheme == Scheme::grouped ? 36.0 : 32.0,
                                .rating = 12,
                                .number = wide ? 12.0 : 4.0,  // fp64 has a copy for the evaluator
                                .fixed = 8 * blocks * blocks}};
  };
  return info;
}

const char* const kPaper =
    "\"A New Approach of GPU-Accelerated Stochastic Gradient Descent Method for Matrix "
    "Factorization\" (NewGPUSGD)";

const RegisterInfo kGrouped(
    family_info(Scheme::grouped, "SGD on diagonals of square blocks; in a block a thread a rating",
                std::string("GPUSGD, as described in ") + kPaper));
const RegisterInfo kTree(family_info(
    Scheme::tree, "SGD on diagonals of blocks; in a block one rating at a time, a thread a factor",
    kPaper));

}  // namespace

Settings read_settings(Scheme scheme, const Params& params) {
  const bool tree = scheme == Scheme::tree;
  const std::int64_t factors = params.integer("factors");
  const std::int64_t threads =
      tree ? (factors + 31) / 32 * 32 : params.integer("threads_per_block");
  return {.scheme = scheme,
          .factors = static_cast<std::int32_t>(factors),
          .reg = read_regularizers(params),
          .blocks = static_cast<std::int32_t>(params.integer("blocks")),
          .precision = params.choice("precision", kPrecisions),
          .threads_per_block = static_cast<int>(threads)};
}

Work epoch_work(const Settings& settings, const RatedShape& rated) {
  const double row = static_cast<double>(settings.factors) * settings.element_bytes();
  return pass_work(rated, settings.factors, ModelKind::plain, sizeof(Rating), row);
}

}  // namespace mf::gpusgd
