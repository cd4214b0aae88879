// Algorithms register themselves: info.cpp its AlgorithmInfo (always), the implementation its
// factory (if this build has it). Algorithms known only at run time, from files, have a source.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/core/algorithm.hpp"

namespace mf {

// Throw std::logic_error on a second registration of a name.
void register_info(AlgorithmInfo info);
void register_factory(const std::string& name, AlgorithmFactory factory);

// Called once, at the next question, to register its finds. If it throws, so does the question, and
// the next one asks again.
void register_source(std::function<void()> source);

std::vector<const AlgorithmInfo*> all_algorithms();            // by family, then name
const AlgorithmInfo& find_algorithm(const std::string& name);  // throws Error(usage), nearest name
bool is_built(const std::string& name);                        // the factory is in this build

// Throws Error(unsupported): "gpusgd needs CUDA; this build lacks it".
std::unique_ptr<Algorithm> make_algorithm(const std::string& name, const Params& params);

// A plugin's registrations while it is loaded: unknown to others before they are adopted.
struct Registrations {
  std::vector<AlgorithmInfo> infos;
  std::vector<std::pair<std::string, AlgorithmFactory>> factories;
};

// While it lives, this thread's registrations go there, and nothing throws.
class CollectRegistrations {
 public:
  explicit CollectRegistrations(Registrations& into);
  ~CollectRegistrations();
  CollectRegistrations(const CollectRegistrations&) = delete;
  CollectRegistrations& operator=(const CollectRegistrations&) = delete;
};

// Registers all of it, or nothing: then it returns why.
std::optional<std::string> adopt(Registrations&& all, const std::string& origin);

// Put one of these at namespace scope of a .cpp or .cu file.
struct RegisterInfo {
  explicit RegisterInfo(AlgorithmInfo info) { register_info(std::move(info)); }
};
struct RegisterFactory {
  RegisterFactory(const std::string& name, AlgorithmFactory factory) {
    register_factory(name, std::move(factory));
  }
};
struct RegisterSource {
  explicit RegisterSource(std::function<void()> source) { register_source(std::move(source)); }
};

}  // namespace mf
