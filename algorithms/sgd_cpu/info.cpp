// sgd_serial, hogwild and fpsgd: names, parameters, limits and papers.
#include <fmt/core.h>

#include "algorithms/core/registry.hpp"
#include "algorithms/sgd_cpu/settings.hpp"

namespace mf::sgd_cpu {
namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 24;  // each takes about 60 bytes

double padded_row_bytes(const Params& params, const ProblemShape& shape) {
  const auto rows = static_cast<double>(shape.n_users + shape.n_items);
  const auto floats = static_cast<double>(row_stride(params.integer("factors")) + 1);
  return rows * floats * sizeof(float);
}

// Rows of both sides and one copy of the ratings in the order of the epoch.
MemoryNeed stream_memory(const Params& params, const ProblemShape& shape) {
  return {padded_row_bytes(params, shape) + static_cast<double>(shape.nnz) * sizeof(Triple), 0};
}

// Rows of both sides twice (in the grid's order, and in that of the users for factors()), the
// orders, the entries, and at most one run for each rating.
MemoryNeed fpsgd_memory(const Params& params, const ProblemShape& shape) {
  const auto nnz = static_cast<double>(shape.nnz);
  const auto ids = static_cast<double>(shape.n_users + shape.n_items);
  return {2 * padded_row_bytes(params, shape) + ids * 20 + nnz * (sizeof(Entry) + sizeof(Run)), 0};
}

std::optional<std::string> why_grid_unsupported(const Params& params, const ProblemShape& shape) {
  const std::int64_t blocks = params.integer("grid_users") * params.integer("grid_items");
  if (blocks > kMaxBlocks) {
    return fmt::format("grid_users x grid_items is {}, above {} blocks", blocks, kMaxBlocks);
  }
  return why_unsupported(params, shape);
}

AlgorithmInfo shared_info(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "sgd_cpu";
  info.hardware = Hardware::cpu;
  info.params = shared_params();
  info.supports = why_unsupported;
  info.memory = stream_memory;
  return info;
}

ParamSpec order_param() {
  return ParamSpec::choice("order", "shuffled", {"shuffled", "sequential"},
                           "ratings of an epoch: shuffled anew each time, or by user and item");
}

AlgorithmInfo serial_info() {
  AlgorithmInfo info = shared_info("sgd_serial");
  info.summary = "SGD over the ratings one by one: the baseline of the others";
  info.paper = "mfbench";
  info.deterministic = true;
  info.params.push_back(order_param());
  return info;
}

AlgorithmInfo hogwild_info() {
  AlgorithmInfo info = shared_info("hogwild");
  info.summary = "SGD by threads that share the factors without locks";
  info.paper =
      "F. Niu, B. Recht, C. Re, S. J. Wright, \"Hogwild!: A Lock-Free Approach to Parallelizing "
      "Stochastic Gradient Descent\", NIPS 2011";
  info.params.push_back(threads_param());
  info.params.push_back(order_param());
  return info;
}

AlgorithmInfo fpsgd_info() {
  AlgorithmInfo info = shared_info("fpsgd");
  info.summary = "SGD over a grid of blocks; threads work on blocks that share no row or column";
  info.paper =
      "W.-S. Chin, Y. Zhuang, Y.-C. Juan, C.-J. Lin, \"A Fast Parallel Stochastic Gradient Method "
      "for Matrix Factorization in Shared Memory Systems\", ACM TIST 6(1), 2015";
  info.params.push_back(threads_param());
  info.params.push_back(ParamSpec::integer(
      "grid_users", 0, 0, 65536, "stripes of users; 0: from threads and ratings", "stripes"));
  info.params.push_back(ParamSpec::integer(
      "grid_items", 0, 0, 65536, "stripes of items; 0: from threads and cache size", "stripes"));
  info.params.push_back(
      ParamSpec::choice("block_order", "random", {"random", "local", "first"},
                        "next block of a thread: a random free one, one of its user stripe if it "
                        "can, or the first free one"));
  info.supports = why_grid_unsupported;
  info.memory = fpsgd_memory;
  return info;
}

const RegisterInfo kSerial(serial_info());
const RegisterInfo kHogwild(hogwild_info());
const RegisterInfo kFpsgd(fpsgd_info());

}  // namespace
}  // namespace mf::sgd_cpu
