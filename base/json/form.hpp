// The keys that a JSON object may have, declared once: the reading of them, with defaults, ranges
// and messages, and the JSON Schema come from one table.
//
//   const auto plateau = Form<Rule>().integer("patience", &Rule::patience, 1, 100, "...");
//   const auto form = Form<Rule>()
//                         .kinds("kind", &Rule::kind, kKindNames, {{Kind::plateau, plateau}},
//                         "...") .number("rate", &Rule::rate, 0, 1, "...");
//   Rule rule = form.parse(json, "$.rule");
//
// Defaults are the struct's, unless a field says otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/names.hpp"
#include "base/problems.hpp"
#include "base/text.hpp"

namespace mf {

struct FormInfo;
struct NamedForm;

// Whether a list may stand for its elements in turn. inside: in the value's own keys; whole: there
// as well; never: nor inside a sweep
enum class Sweep { none, inside, whole, never };

// One key in a JSON Schema.
struct FieldInfo {
  std::string name;
  std::string help;
  Json value;                            // the schema of a value that is not an object, or null
  std::shared_ptr<const FormInfo> form;  // the keys of a value that is an object, or null
  bool required = false;
  bool list = false;  // a list, not empty, of such values
  Sweep sweep = Sweep::none;
};

// One object in a JSON Schema.
struct FormInfo {
  std::vector<FieldInfo> fields;

  // Further keys by the value of this one, as in {"kind": "plateau", "patience": 3}.
  std::string selector;
  std::vector<NamedForm> kinds;
  std::vector<std::string> without;  // kinds that an object without the selector may be of

  // Further keys by which one of these is there: at most one, or exactly one.
  std::vector<NamedForm> keyed;
  bool keyed_required = false;
};

// The keys of an object for one word: a kind, or the key present.
struct NamedForm {
  std::string word;
  FormInfo info;
};

// The schema of numbers in an inclusive range.
template <class Number>
Json range_schema(const char* type, Number min, Number max) {
  return {{"type", type}, {"minimum", min}, {"maximum", max}};
}

template <class T>
class Form {
 public:
  using Read = std::function<void(JsonReader&, T&)>;

  // M may be an optional, for a key that may be absent. Owner: T, or a base of it.
  template <class M, class Owner>
  Form integer(std::string name, M Owner::*member, std::int64_t min, std::int64_t max,
               std::string help, std::optional<std::int64_t> fallback = {}) && {
    return std::move(*this).in_range("integer", &JsonReader::integer, std::move(name), member, min,
                                     max, std::move(help), fallback);
  }
  template <class M, class Owner>
  Form number(std::string name, M Owner::*member, double min, double max, std::string help,
              std::optional<double> fallback = {}) && {
    return std::move(*this).in_range("number", &JsonReader::number, std::move(name), member, min,
                                     max, std::move(help), fallback);
  }

  Form boolean(std::string name, bool T::*member, std::string help) && {
    return std::move(*this).field(
        {name, std::move(help), {{"type", "boolean"}, {"default", T{}.*member}}, nullptr},
        [=](JsonReader& reader, T& out) { out.*member = reader.boolean(name, out.*member); });
  }

  Form text(std::string name, std::string T::*member, std::string help) && {
    return std::move(*this).field(
        {name, std::move(help), {{"type", "string"}}, nullptr},
        [=](JsonReader& reader, T& out) { out.*member = reader.string(name, out.*member); });
  }
  // A text that must not be empty; and for a key that may be absent.
  Form name(std::string name, std::string T::*member, std::string help) && {
    return std::move(*this).optional_name(std::move(name), member, std::move(help)).required();
  }
  Form optional_name(std::string name, std::string T::*member, std::string help) && {
    return std::move(*this).field(
        {name, std::move(help), {{"type", "string"}, {"minLength", 1}}, nullptr},
        [=](JsonReader& reader, T& out) {
          if (reader.find(name) != nullptr) out.*member = reader.name(name);
        });
  }

  Form choice(std::string name, std::string T::*member, const std::vector<std::string>& choices,
              const std::string& fallback, std::string help) && {
    return std::move(*this).field(
        {name, std::move(help), {{"enum", choices}, {"default", fallback}}, nullptr},
        [=](JsonReader& reader, T& out) { out.*member = reader.choice(name, fallback, choices); });
  }
  template <class E, class Owner, std::size_t kCount>
  Form choice(std::string name, E Owner::*member, const Names<E, kCount>& names,
              std::string help) && {
    return std::move(*this).field({name, std::move(help), enum_schema(names, member), nullptr},
                                  read_enum(name, member, names));
  }

  // A nested object, read if it is there. The member may be an optional.
  template <class Member, class Part, class Owner>
  Form object(std::string name, Member Owner::*member, const Form<Part>& form,
              std::string help) && {
    return std::move(*this).field(
        {name, std::move(help), nullptr, form.shared_info()}, [=](JsonReader& reader, T& out) {
          const Json* json = reader.find(name);
          if (json == nullptr) return;
          Part start;
          if constexpr (std::is_same_v<Member, Part>) start = out.*member;
          out.*member = form.parse(*json, reader.path(name), std::move(start));
        });
  }
  // A list of objects, not empty.
  template <class Part>
  Form list(std::string name, std::vector<Part> T::*member, const Form<Part>& form,
            std::string help) && {
    FieldInfo info{name, std::move(help), nullptr, form.shared_info()};
    info.list = true;
    return std::move(*this).field(std::move(info), [=](JsonReader& reader, T& out) {
      const Json* json = reader.find(name);
      if (json == nullptr) return;
      if (!json->is_array() || json->empty()) {
        fail(ErrorKind::usage, "{}: found {}, expected a list that is not empty", reader.path(name),
             describe(*json));
      }
      for (std::size_t i = 0; i < json->size(); ++i) {
        (out.*member)
            .push_back(form.parse((*json)[i], reader.path(name) + "[" + std::to_string(i) + "]"));
      }
    });
  }
  // The same for keys whose values are members of T itself.
  Form group(std::string name, const Form& form, std::string help) && {
    return std::move(*this).field({name, std::move(help), nullptr, form.shared_info()},
                                  [=](JsonReader& reader, T& out) {
                                    if (const Json* json = reader.find(name)) {
                                      out = form.parse(*json, reader.path(name), out);
                                    }
                                  });
  }

  // A key that is read later, from the JSON itself.
  Form raw(const Json* T::*member, FieldInfo info) && {
    const std::string name = info.name;
    const bool required = info.required;
    return std::move(*this).field(std::move(info), [=](JsonReader& reader, T& out) {
      out.*member = required ? &reader.require(name) : reader.find(name);
    });
  }

  // A key for readers of the file.
  Form remark(const std::string& name) && {
    return std::move(*this).step([=](JsonReader& reader, T&) { reader.find(name); });
  }
  // Any other key.
  Form field(FieldInfo info, Read read) && {
    info_.fields.push_back(std::move(info));
    return std::move(*this).step(std::move(read));
  }
  // The field before must be there.
  Form required() && {
    info_.fields.back().required = true;
    steps_.back().read = [name = info_.fields.back().name, read = steps_.back().read](
                             JsonReader& reader, T& out) {
      reader.require(name);
      read(reader, out);
    };
    return std::move(*this);
  }

  // A step of reading that asks for no key: a default that depends on others, a check over several.
  // Its errors count only if everything before is right.
  Form then(Read read) && { return std::move(*this).step(std::move(read), StepKind::follows); }

  // A key that would be allowed elsewhere, and why it is not here.
  Form refuse(const std::string& name, const std::string& why) && {
    return std::move(*this).step([=](JsonReader& reader, T&) {
      if (reader.find(name) != nullptr) fail(ErrorKind::usage, "{}: {}", reader.path(name), why);
    });
  }

  // A key whose value, one of an enum, decides which further keys there are.
  template <class E, std::size_t kCount>
  Form kinds(const std::string& name, E T::*member, const Names<E, kCount>& names,
             const std::vector<std::pair<E, Form>>& forms, std::string help,
             std::vector<E> without = {}) && {
    Json schema = enum_schema(names, member);
    if (without.empty()) without.push_back(T{}.*member);
    if (without.size() > 1) schema.erase("default");
    std::vector<std::pair<std::string, Form>> named;
    for (const auto& one : names.table) {
      named.emplace_back(one.name, Form());
      for (const auto& [value, form] : forms) {
        if (value == one.value) named.back().second = form;
      }
    }
    std::vector<std::string> absent;
    for (const E value : without) absent.push_back(names.of(value));
    const auto read = read_enum(name, member, names);
    const auto choose = [=](JsonReader& reader, T& out) {
      read(reader, out);
      const std::string chosen = names.of(out.*member);
      for (const auto& [kind, form] : named) {
        if (kind == chosen) form.read(reader, out);
      }
      refuse_other_kinds(reader, name, chosen, named);
    };
    std::vector<NamedForm> infos;
    for (const auto& [kind, form] : named) infos.push_back({kind, form.info()});
    return std::move(*this).select({name, std::move(help), schema, nullptr}, choose,
                                   std::move(infos), std::move(absent));
  }

  // A key of other kinds than the chosen one: the kind is wrong or missing.
  static void refuse_other_kinds(const JsonReader& reader, const std::string& selector,
                                 const std::string& chosen,
                                 const std::vector<std::pair<std::string, Form>>& named) {
    std::map<std::string, std::vector<std::string>> kinds_of;
    for (const auto& [kind, form] : named) {
      for (const auto& field : form.info().fields) kinds_of[field.name].push_back(kind);
    }
    for (const auto& [key, kinds] : kinds_of) {
      if (!reader.holds(key) || std::find(kinds.begin(), kinds.end(), chosen) != kinds.end()) {
        continue;
      }
      if (!reader.holds(selector)) reader.check_misspelt({selector});
      fail(ErrorKind::usage, "{}: found it with {} \"{}\"{}, expected it only with {}",
           reader.path(key), selector, chosen,
           reader.holds(selector) ? "" : fmt::format(", as it has no \"{}\"", selector),
           join(kinds, " or "));
    }
  }

  // The same for kinds known only at reading: `choose` reads the key and the further ones.
  Form select(FieldInfo key, Read choose, std::vector<NamedForm> infos,
              std::vector<std::string> without = {}) && {
    info_.selector = key.name;
    info_.kinds = std::move(infos);
    info_.without = std::move(without);
    key.required = info_.without.empty();
    info_.fields.push_back(std::move(key));
    return std::move(*this).step(std::move(choose), StepKind::chooses);
  }

  // Forms chosen by the key present.
  Form one_of_keys(std::vector<std::pair<std::string, Form>> forms, bool required,
                   const std::string& message) && {
    for (const auto& [key, form] : forms) info_.keyed.push_back({key, form.info()});
    info_.keyed_required = required;
    const auto choose = [=](JsonReader& reader, T& out) {
      const Form* chosen = nullptr;
      for (const auto& [key, form] : forms) {
        if (reader.find(key) == nullptr) continue;
        if (chosen != nullptr) fail(ErrorKind::usage, "{}: {}", reader.where(), message);
        chosen = &form;
      }
      if (chosen != nullptr) chosen->read(reader, out);
      if (chosen != nullptr || !required) return;
      std::vector<std::string> keys;
      for (const auto& [key, form] : forms) keys.push_back(key);
      reader.check_misspelt(keys);
      fail(ErrorKind::usage, "{}: {}", reader.where(), message);
    };
    return std::move(*this).step(choose, StepKind::chooses);
  }

  // Reads without `finish()`. Throws ErrorList with everything that is wrong.
  void read(JsonReader& reader, T& out) const {
    Problems problems;
    try_steps(reader, out, problems);
    problems.raise();
  }

  // A whole object. Throws ErrorList with the JSON path of everything that is wrong.
  T parse(const Json& json, const std::string& path, T start = {}) const {
    JsonReader reader(json, path);
    return parse(reader, std::move(start));
  }
  T parse(JsonReader& reader, T start = {}) const {
    Problems problems;
    parse_into(reader, start, problems);
    problems.raise();
    return start;
  }
  // The same for a caller that uses the values read so far.
  void parse_into(JsonReader& reader, T& out, Problems& problems) const {
    try_steps(reader, out, problems);
    for (const auto& [path, message] : reader.unknown_keys()) {
      if (!problems.names(path)) problems.add(ErrorKind::usage, message);
    }
  }

  const FormInfo& info() const { return info_; }
  std::shared_ptr<const FormInfo> shared_info() const {
    return std::make_shared<const FormInfo>(info_);
  }

 private:
  template <class E, class Owner, std::size_t kCount>
  static Json enum_schema(const Names<E, kCount>& names, E Owner::*member) {
    return {{"enum", names.all()}, {"default", names.of(T{}.*member)}};
  }
  template <class E, class Owner, std::size_t kCount>
  static Read read_enum(const std::string& name, E Owner::*member, const Names<E, kCount>& names) {
    return [=](JsonReader& reader, T& out) {
      out.*member = *names.find(reader.choice(name, names.of(out.*member), names.all()));
    };
  }

  enum class StepKind { reads, follows, chooses };
  struct Step {
    Read read;
    StepKind kind = StepKind::reads;
  };

  template <class M, class Owner, class Number, class Reading>
  Form in_range(const char* type, Reading reading, std::string name, M Owner::*member, Number min,
                Number max, std::string help, std::optional<Number> fallback) && {
    Json schema = range_schema(type, min, max);
    if constexpr (std::is_arithmetic_v<M>) {
      schema["default"] = fallback.value_or(static_cast<Number>(T{}.*member));
    }
    return std::move(*this).field(
        {name, std::move(help), schema, nullptr}, [=](JsonReader& reader, T& out) {
          if (fallback) out.*member = static_cast<M>(*fallback);
          if (reader.find(name) == nullptr) return;
          out.*member = static_cast<M>((reader.*reading)(name, 0, min, max));
        });
  }

  Form step(Read read, StepKind kind = StepKind::reads) && {
    steps_.push_back({std::move(read), kind});
    return std::move(*this);
  }

  void try_steps(JsonReader& reader, T& out, Problems& problems) const {
    for (const auto& [read, kind] : steps_) {
      Problems of_step;
      of_step.attempt([&, &read = read, kind = kind] {
        try {
          read(reader, out);
        } catch (const ErrorList&) {
          throw;  // a form was chosen, and something in it is wrong
        } catch (const Error&) {
          if (kind == StepKind::chooses) reader.leave_open();
          throw;
        }
      });
      if (kind != StepKind::follows || !problems.any()) problems.take(of_step);
    }
  }

  FormInfo info_;
  std::vector<Step> steps_;
};

}  // namespace mf
