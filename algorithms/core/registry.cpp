#include "algorithms/core/registry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
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

thread_local Registrations* collected = nullptr;

// Why these conflict with the existing ones, or empty.
std::optional<std::string> misfit(const Registrations& all) {
  std::set<std::string> named;
  for (const AlgorithmInfo& info : all.infos) {
    if (info.name.empty()) return "it has an algorithm without a name";
    if (registry().infos.count(info.name) != 0 || !named.insert(info.name).second) {
      return "two algorithms are named " + info.name;
    }
  }
  for (const auto& [name, factory] : all.factories) {
    if (named.erase(name) == 0) return fmt::format("it makes {}, which it does not describe", name);
  }
  if (!named.empty()) return fmt::format("it describes {}, which it does not make", *named.begin());
  return std::nullopt;
}

}  // namespace

CollectRegistrations::CollectRegistrations(Registrations& into) { collected = &into; }
CollectRegistrations::~CollectRegistrations() { collected = nullptr; }

std::optional<std::string> adopt(Registrations&& all, const std::string& origin) {
  if (auto why = misfit(all)) return why;
  for (AlgorithmInfo& info : all.infos) {
    info.origin = origin;
    register_info(std::move(info));
  }
  for (auto& [name, factory] : all.factories) register_factory(name, std::move(factory));
  return std::nullopt;
}

void register_info(AlgorithmInfo info) {
  if (collected != nullptr) {
    collected->infos.push_back(std::move(info));
    return;
  }
  const std::string name = info.name;
  if (!registry().infos.emplace(name, std::move(info)).second) {
    throw std::logic_error("two algorithms are named " + name);
  }
}

void register_source(std::function<void()> source) {
  registry().sources.push_back(std::move(source));
}

void register_factory(const std::string& name, AlgorithmFactory factory) {
  if (collected != nullptr) {
    collected->factories.emplace_back(name, std::move(factory));
    return;
  }
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
  fail(ErrorKind::usage, "there is no algorithm \"{}\"{}; mfbench list has all", name,
       near.empty() ? "" : ", did you mean \"" + near + "\"?");
}

bool is_built(const std::string& name) { return complete_registry().factories.count(name) != 0; }

std::unique_ptr<Algorithm> make_algorithm(const std::string& name, const Params& params) {
  const AlgorithmInfo& info = find_algorithm(name);
  const auto& factories = complete_registry().factories;
  const auto it = factories.find(name);
  if (it == factories.end()) {
    fail(ErrorKind::unsupported, "{} needs {}; this build lacks it", name,
         info.hardware == Hardware::cuda ? "CUDA" : "its implementation");
  }
  return it->second(params);
}

}  // namespace mf
