// bpr_cpu, bpr and bpr_tiled: names, parameters, memory, work.
#include "algorithms/bpr/settings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::bpr {
namespace {

constexpr std::int64_t kMaxFactorsCpu = 16384;

constexpr const char* kBprPaper =
    "S. Rendle, C. Freudenthaler, Z. Gantner, L. Schmidt-Thieme, \"BPR: Bayesian Personalized "
    "Ranking from Implicit Feedback\", UAI 2009";

ParamSpec loss_param() {
  return ParamSpec::choice(
      "loss", Loss::bpr, kLosses,
      "loss of a triple: bpr; warp, by the rank that the draws suggest (Weston "
      "et al., IJCAI 2011); logistic, of both pairs apart (Johnson, 2014); ccl, of cosines above a "
      "margin (Mao et al., CIKM 2021)");
}

std::vector<ParamSpec> shared_params(std::int64_t most_factors) {
  return join_params(
      join_params({factors_param(64, most_factors)}, regularizer_params(0.01, false)),
      {ParamSpec::choice("negatives", Negatives::uniform, kNegatives,
                         "items that the user was not observed with: all alike, or as popular as "
                         "they are"),
       ParamSpec::constant("item_bias", true),
       ParamSpec::number("alpha", 1, 1e-6, 1e6,
                         "loss logistic: weight of an observed pair of value r: alpha r"),
       ParamSpec::integer(
           "negatives_per_pair", 1, 1, 1 << 16,
           "losses bpr and ccl: items that the user was not observed with, to a pair", "items")
           .silent(),
       ParamSpec::number("margin", 0.8, -1, 1, "loss ccl: cosine from which a negative counts")
           .silent(),
       ParamSpec::number("negative_weight", 100, 0, 1e6,
                         "loss ccl: weight of a pair's negatives together")
           .silent()});
}

ParamSpec max_tries_param() {
  return ParamSpec::integer(
      "max_tries", 32, 1, 1 << 20,
      "loss warp: items drawn for one that comes too close; without one no update", "items");
}

MemoryUse cpu_memory(const Params& params) {
  return {.host = {.number = read_settings(params).cosine() ? 12.0 : 8.0}};
}

std::optional<std::string> why_unsupported(const Params& params, const ProblemShape&) {
  const Settings settings = read_settings(params);
  // A mantissa of 8 bits loses the small steps of ccl.
  if (settings.cosine() && settings.storage == Storage::bf16) {
    return "loss ccl with storage bf16: expected fp32 or fp16";
  }
  if (settings.per_pair == 1 || settings.loss == Loss::bpr || settings.cosine()) return {};
  return "negatives_per_pair " + std::to_string(settings.per_pair) + " with loss " +
         kLosses.of(settings.loss) + ": expected 1; only the losses bpr and ccl take more";
}

// The pairs, and rows of both sides.
MemoryUse device_memory(const Params& params) {
  const Settings settings = read_settings(params);
  return {.device = {.rating = settings.loss == Loss::logistic ? 12.0 : 8.0,
                     .number = stored_number_bytes(settings.storage) + (settings.cosine() ? 4 : 0),
                     .row = 8}};
}

AlgorithmInfo shared_info(const std::string& name, const std::string& summary) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "bpr";
  info.title = "Pairwise losses";
  info.method = Method::pairwise;
  info.summary = summary;
  info.paper = kBprPaper;
  info.implicit = read_loss;
  info.supports = why_unsupported;
  return info;
}

AlgorithmInfo cpu_info() {
  AlgorithmInfo info =
      shared_info("bpr_cpu", "implicit feedback by pairs of items: Hogwild over random triples");
  info.params = join_params({loss_param()}, shared_params(kMaxFactorsCpu));
  info.params = join_params(std::move(info.params), {max_tries_param(), threads_param()});
  info.memory = cpu_memory;
  return info;
}

AlgorithmInfo device_info(const std::string& name, const std::string& summary,
                          const std::vector<ParamSpec>& own) {
  AlgorithmInfo info = shared_info(name, summary);
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = join_params({loss_param()}, shared_params(kMaxFactorsDevice));
  info.params = join_params(
      std::move(info.params),
      {max_tries_param(), ParamSpec::integer("workers", 0, 0, 1 << 20,
                                             "triples that are worked on at once, at most but for "
                                             "whole warps; 0: by the smaller side of the matrix",
                                             "triples")});
  info.params = join_params(std::move(info.params), own);
  info.memory = device_memory;
  return info;
}

AlgorithmInfo tiled_info() {
  AlgorithmInfo info = device_info(
      "bpr_tiled", "bpr, a user's factors in registers over a run of triples, items from L2",
      {storage_param(), rounding_param(Rounding::stochastic)});
  info.paper = "mfbench";
  return info;
}

const RegisterInfo kBpr(device_info(
    "bpr", "implicit feedback by pairs of items: a random triple a group of lanes", {}));
const RegisterInfo kTiled(tiled_info());
const RegisterInfo kBprCpu(cpu_info());

}  // namespace

Settings read_settings(const Params& params) {
  const auto whole = [&](const char* name) {
    return params.has(name) ? params.integer(name) : std::int64_t{0};
  };
  return {.factors = static_cast<std::int32_t>(params.integer("factors")),
          .loss = params.choice("loss", kLosses),
          .negatives = params.choice("negatives", kNegatives),
          .alpha = params.number("alpha"),
          .max_tries = params.integer("max_tries"),
          .per_pair = params.integer("negatives_per_pair"),
          .margin = params.number("margin"),
          .weight = params.number("negative_weight"),
          .reg = read_regularizers(params),
          .storage = params.has("storage") ? read_storage(params) : Storage::fp32,
          .stochastic = params.has("rounding") && read_stochastic(params),
          .workers = whole("workers")};
}

ImplicitLoss read_loss(const Params& params) {
  return {params.number("alpha"), read_regularizers(params).p};
}

Work epoch_work(const Settings& settings, std::int64_t pairs, std::int64_t rows) {
  const auto triples = static_cast<double>(pairs);
  const double row = settings.factors * static_cast<double>(storage_bytes(settings.storage));
  const double value = settings.loss == Loss::logistic ? sizeof(float) : 0;
  // Of ccl every j is scored, and only those within the margin move.
  const double of_other = (settings.cosine() ? 4 : 12) * static_cast<double>(settings.per_pair);
  return {triples, triples * (8 + value) + 2 * row * static_cast<double>(rows),
          triples * ((6 + of_other) * settings.factors + 10)};
}

}  // namespace mf::bpr
