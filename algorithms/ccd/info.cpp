// The CCD++ algorithms: names, parameters, limits and papers.
#include <fmt/core.h>

#include "algorithms/ccd/layout.hpp"
#include "algorithms/ccd/settings.hpp"
#include "algorithms/core/registry.hpp"
#include "algorithms/core/threads_param.hpp"

namespace mf::ccd {
namespace {

ParamSpec center_param(std::vector<std::string> kinds) {
  return ParamSpec::choice("center", "none", std::move(kinds),
                           "removed before: nothing (the paper's), or mu + b_u + c_i")
      .silent();
}

constexpr const char* kPaper =
    "H.-F. Yu, C.-J. Hsieh, S. Si, I. Dhillon, \"Scalable Coordinate Descent Approaches to "
    "Parallel "
    "Matrix Factorization for Recommender Systems\", ICDM 2012";

// On the device with kQuad - 1 of padding a rating at worst.
std::optional<std::string> why_unsupported(const Params&, const ProblemShape& shape) {
  if (shape.nnz <= kMostUnits) return std::nullopt;
  return fmt::format("{} ratings, at most {} can be numbered", shape.nnz, kMostUnits);
}

std::optional<std::string> cpu_why_unsupported(const Params& params, const ProblemShape& shape) {
  if (auto why = why_no_simd(params)) return why;
  return why_unsupported(params, shape);
}

AlgorithmInfo shared_info(const std::string& name) {
  AlgorithmInfo info;
  info.name = name;
  info.family = "ccd";
  info.title = "CCD++";
  info.method = Method::ccd;
  info.paper = kPaper;
  info.deterministic = true;
  info.uses_learning_rate = false;
  info.phases = {"residual", "users", "items"};
  return info;
}

AlgorithmInfo cpu_info() {
  AlgorithmInfo info = shared_info("ccd++_cpu");
  info.summary = "CCD++ on the CPU: one factor after another, each number solved from residuals";
  info.params = join_params(common_params(),
                            {center_param({"none", "biases"}), threads_param(), simd_param()});
  // No paper has these. They never end behind `bias` on ml-100k, ml-1m and filmtrust
  // (tests/test_defaults.py).
  info.params = with_defaults(std::move(info.params),
                              {{"center", "biases"}, {"reg", 15.0}, {"start", "zero"}});
  info.supports = cpu_why_unsupported;
  info.memory = [](const Params&) { return MemoryUse{.host = {.rating = 20, .number = 16}}; };
  return info;
}

AlgorithmInfo device_info() {
  AlgorithmInfo info = shared_info("ccd++");
  info.summary =
      "CCD++ on a GPU: both orders of the residuals streamed, gathers from shared memory";
  info.paper +=
      "; I. Nisa, A. Sukumaran-Rajam, R. Kunchum, P. Sadayappan, \"Parallel CCD++ on GPU for "
      "Matrix "
      "Factorization\", GPGPU 2017";
  info.hardware = Hardware::cuda;
  info.starts_by_rule = true;
  info.params = join_params(common_params(), {center_param({"none"})});
  info.supports = why_unsupported;
  info.memory = [](const Params&) {
    return MemoryUse{.device = {.preparing = 32, .rating = 20, .number = 8, .row = 50}};
  };
  return info;
}

const RegisterInfo kCpu(cpu_info());
const RegisterInfo kDevice(device_info());

}  // namespace
}  // namespace mf::ccd
