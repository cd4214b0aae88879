#include "algorithms/gpusgd/settings.hpp"

#include <algorithm>

namespace mf::gpusgd {
namespace {

constexpr double kDefaultReg = 0.03;  // lambda of the paper
constexpr double kPinnedBytes = 32e6;

double element_bytes(const Settings& settings) {
  return settings.precision == Precision::fp64 ? sizeof(double) : sizeof(float);
}

int round_to_warps(std::int64_t threads) { return static_cast<int>((threads + 31) / 32 * 32); }

}  // namespace

const char* scheme_name(Scheme scheme) {
  return scheme == Scheme::grouped ? "gpusgd" : "newgpusgd";
}

std::vector<ParamSpec> family_params(Scheme scheme) {
  const bool tree = scheme == Scheme::tree;
  std::vector<ParamSpec> params = {
      ParamSpec::integer("factors", 16, 1, tree ? kMaxTreeFactors : 16384,
                         tree ? "length f of the rows of P and Q; a thread each"
                              : "length f of the rows of P and Q"),
      ParamSpec::choice("model", "plain", {"plain", "biased"},
                        "plain: p.q (the paper); biased: mu + b_u + c_i + p.q")};
  for (auto& regularizer : regularizer_params(kDefaultReg)) {
    params.push_back(std::move(regularizer));
  }
  params.push_back(ParamSpec::integer("blocks", 64, 1, kMaxBlocks,
                                      "l: the matrix is cut into l x l blocks, l run together"));
  params.push_back(ParamSpec::choice("precision", "fp32", {"fp32", "fp64"},
                                     "of factors and arithmetic; ratings are fp32"));
  if (tree) {
    params.push_back(
        ParamSpec::choice("order", "sorted", {"sorted", "shuffled"},
                          "ratings of a block: by user and item, or in one random order"));
  } else {
    params.push_back(ParamSpec::integer("threads_per_block", 256, 1, 1024,
                                        "threads over the ratings of a group", "threads"));
  }
  return params;
}

Settings read_settings(Scheme scheme, const Params& params) {
  Settings settings;
  settings.factors = static_cast<std::int32_t>(params.integer("factors"));
  settings.model = parse_model_kind(params.choice("model"));
  settings.reg = read_regularizers(params);
  settings.blocks = static_cast<std::int32_t>(params.integer("blocks"));
  settings.precision = params.choice("precision") == "fp64" ? Precision::fp64 : Precision::fp32;
  if (scheme == Scheme::tree) {
    settings.order = params.choice("order") == "shuffled" ? Order::shuffled : Order::sorted;
    settings.threads_per_block = round_to_warps(settings.factors);
  } else {
    settings.threads_per_block = static_cast<int>(params.integer("threads_per_block"));
  }
  return settings;
}

MemoryNeed memory_need(Scheme scheme, const Params& params, const ProblemShape& shape) {
  const Settings settings = read_settings(scheme, params);
  const double element = element_bytes(settings);
  const auto rows = static_cast<double>(shape.n_users) + static_cast<double>(shape.n_items);
  const auto nnz = static_cast<double>(shape.nnz);
  const auto blocks = static_cast<double>(settings.blocks);
  const auto stride =
      static_cast<double>(row_stride(settings.factors, static_cast<std::size_t>(element)));
  const double row = stride + (settings.biased() ? 1 : 0);
  double tables = 8 * (blocks * blocks + 1);
  if (scheme == Scheme::grouped) {
    // Where the groups begin: not more of them than ratings, nor than a block side in each block.
    const double side = static_cast<double>(std::max(shape.n_users, shape.n_items)) / blocks + 1;
    tables += tables + 8 * (std::min(nnz, blocks * blocks * side) + 1);
  }
  const double ratings = sizeof(Rating) * nnz;
  const double views = settings.precision == Precision::fp64 ? row * rows * sizeof(float) : 0;
  // The host holds the ratings in their new order, the tables and the counts they come from.
  return {ratings + 2 * tables + kPinnedBytes, ratings + tables + row * rows * element + views};
}

Work epoch_work(const Settings& settings, const Ratings& train) {
  const auto nnz = static_cast<double>(train.nnz());
  const auto rows = static_cast<double>(count_rating_users(train) + count_rated_items(train));
  const double row = (settings.factors + (settings.biased() ? 1.0 : 0.0)) * element_bytes(settings);
  Work work;
  work.updates = nnz;
  work.bytes = nnz * sizeof(Rating) + 2 * rows * row;
  work.flops = nnz * (10.0 * settings.factors + (settings.biased() ? 13.0 : 2.0));
  return work;
}

}  // namespace mf::gpusgd
