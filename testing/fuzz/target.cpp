#include "testing/fuzz/target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>

#include <unistd.h>

#include "base/error.hpp"

namespace mf::fuzz {
namespace {

std::vector<Target>& registered() {
  static std::vector<Target> all;
  return all;
}

// libFuzzer closes standard error, onto which warnings go, once the program has started.
const int kMessages = ::dup(2);

[[noreturn]] void report(const std::string& text) {
  const std::string line = "FINDING: " + text + "\n";
  if (::write(kMessages, line.data(), line.size()) < 0) std::perror("FINDING");
  std::abort();
}

}  // namespace

Registrar::Registrar(const Target& target) {
  auto& all = registered();
  const auto place = std::find_if(all.begin(), all.end(), [&](const Target& other) {
    return std::strcmp(other.name, target.name) > 0;
  });
  all.insert(place, target);
}

const std::vector<Target>& targets() { return registered(); }

const Target* find_target(std::string_view name) {
  const auto& all = targets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Target& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool accepts(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool takes(const Target& target, std::string_view input) {
  try {
    return accepts([&] { target.run(input); });
  } catch (const std::exception& error) {
    report(std::string(target.name) + ": an exception of another kind: " + typeid(error).name() +
           ": " + error.what());
  } catch (...) {
    report(std::string(target.name) + ": an exception of another kind");
  }
}

void expect(bool holds, const char* property) {
  if (!holds) report(std::string("does not hold: ") + property);
}

}  // namespace mf::fuzz
