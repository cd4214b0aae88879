#include "algorithms/core/registry.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mf {
namespace {

struct Registry {
  std::map<std::string, AlgorithmInfo> infos;
  std::map<std::string, AlgorithmFactory> factories;
  std::vector<std::function<void()>> sources;
};

// A function's static, because registrars of other files run before any object of this one exists.
Registry& registry() {
  static Registry instance;
  return instance;
}

const Registry& complete_registry() {
  static std::mutex asking;
  const std::lock_guard lock(asking);
  auto& sources = registry().sources;
  for (; !sources.empty(); sources.pop_back()) sources.back()();
  return registry();
}

}  // namespace

void register_info(AlgorithmInfo info) {
  const std::string name = info.name;
  if (!registry().infos.emplace(name, std::move(info)).second) {
    throw std::logic_error("two algorithms are named " + name);
  }
}

void register_source(std::function<void()> source) {
  registry().sources.push_back(std::move(source));
}

void register_factory(const std::string& name, AlgorithmFactory factory) {
  if (!registry().factories.emplace(name, std::move(factory)).second) {
    throw std::logic_error("two factories are named " + name);
  }
}

std::vector<const AlgorithmInfo*> all_algorithms() {
  std::vector<const AlgorithmInfo*> infos;
  for (const auto& [name, info] : complete_registry().infos) infos.push_back(&info);
  std::stable_sort(infos.begin(), infos.end(),
                   [](const auto* a, const auto* b) { return a->family < b->family; });
  return infos;
}

const AlgorithmInfo& find_algorithm(const std::string& name) {
  const auto& infos = complete_registry().infos;
  const auto it = infos.find(name);
  if (it != infos.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [known, info] : infos) names.push_back(known);
  const std::string near = nearest(name, names);
  fail(ErrorKind::usage, "there is no algorithm \"{}\"{}; known: {}", name,
       near.empty() ? "" : ", did you mean \"" + near + "\"?", join(names));
}

bool is_built(const std::string& name) { return complete_registry().factories.count(name) != 0; }

std::unique_ptr<Algorithm> make_algorithm(const std::string& name, const Params& params) {
  const AlgorithmInfo& info = find_algorithm(name);
  const auto& factories = complete_registry().factories;
  const auto it = factories.find(name);
  if (it == factories.end()) {
    fail(ErrorKind::unsupported, "{} needs {}; this build has none", name,
         info.hardware == Hardware::cuda ? "CUDA" : "its implementation");
  }
  return it->second(params);
}

}  // namespace mf
