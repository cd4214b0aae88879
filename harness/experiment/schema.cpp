// The JSON Schema of specs, written from the tables that read them.
#include <cctype>

#include "harness/experiment/spec.hpp"
#include "harness/experiment/spec_forms.hpp"

namespace mf {
namespace {

class SchemaWriter {
 public:
  Json object(const FormInfo& form, bool sweeps) {
    Json out = {{"type", "object"}};
    out.update(keys(form, {}, sweeps));
    return out;
  }
  const Json& definitions() const { return definitions_; }

 private:
  // The keys of a form beside the keys of `outer`, which contain it. If further keys depend on
  // others, only the innermost form knows all that are allowed.
  Json keys(const FormInfo& form, std::vector<std::string> outer, bool sweeps) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const auto& field : form.fields) {
      properties[field.name] = property(field, sweeps);
      if (field.required) required.push_back(field.name);
    }
    const bool innermost = form.kinds.empty() && form.keyed.empty();
    if (innermost) {
      for (const auto& name : outer) properties[name] = true;
    }
    Json out = {{"properties", properties}};
    if (!required.empty()) out["required"] = required;
    if (innermost) {
      out["additionalProperties"] = false;
      return out;
    }
    for (const auto& field : form.fields) outer.push_back(field.name);
    Json rules = Json::array();
    add_kinds(rules, form, outer, sweeps);
    add_keyed(rules, form, outer, sweeps);
    out["allOf"] = rules;
    return out;
  }

  // A list at the selector names several kinds: each of them must allow the keys present.
  void add_kinds(Json& rules, const FormInfo& form, const std::vector<std::string>& outer,
                 bool sweeps) {
    Json without = Json::array();
    for (const auto& [kind, further] : form.kinds) {
      const Json then = keys(further, outer, sweeps);
      const Json is_kind = {{"properties", {{form.selector, includes(kind, sweeps)}}},
                            {"required", {form.selector}}};
      rules.push_back({{"if", is_kind}, {"then", then}});
      for (const auto& absent : form.without) {
        if (absent == kind) without.push_back(then);
      }
    }
    if (without.empty()) return;
    rules.push_back(
        {{"if", {{"not", {{"required", {form.selector}}}}}}, {"then", {{"anyOf", without}}}});
  }

  void add_keyed(Json& rules, const FormInfo& form, const std::vector<std::string>& outer,
                 bool sweeps) {
    Json any = Json::array();
    for (const auto& [key, further] : form.keyed) {
      const Json there = {{"required", {key}}};
      rules.push_back({{"if", there}, {"then", keys(further, outer, sweeps)}});
      any.push_back(there);
    }
    if (form.keyed.empty()) return;
    if (form.keyed_required) {
      rules.push_back({{"anyOf", any}});
    } else {
      rules.push_back({{"if", {{"not", {{"anyOf", any}}}}}, {"then", keys({}, outer, sweeps)}});
    }
  }

  Json property(const FieldInfo& field, bool sweeps) {
    sweeps = sweeps && field.sweep != Sweep::never;
    const bool inside = sweeps || field.sweep == Sweep::inside || field.sweep == Sweep::whole;
    Json value = field.value;
    if (field.form) {
      const Json object_schema = object(*field.form, inside);
      value =
          value.is_null() ? object_schema : Json{{"anyOf", Json::array({value, object_schema})}};
    }
    if (sweeps || field.sweep == Sweep::whole) value = swept(field.name, std::move(value));
    if (field.list) value = {{"type", "array"}, {"minItems", 1}, {"items", value}};
    if (!field.help.empty()) value["description"] = field.help;
    return value;
  }

  // The value, or a list of such values, in which there may be lists again.
  Json swept(const std::string& name, Json value) {
    return define(name, [&](const Json& self) {
      const Json list = {{"type", "array"}, {"minItems", 1}, {"items", self}};
      return Json{{"anyOf", Json::array({value, list})}};
    });
  }

  // This word, or one that matches it, or a list with it.
  Json includes(const std::string& word, bool sweeps) {
    const Json is =
        word.starts_with('^') ? Json{{"type", "string"}, {"pattern", word}} : Json{{"const", word}};
    if (!sweeps) return is;
    return define("is-" + word, [&](const Json& self) {
      const Json list = {{"type", "array"}, {"contains", self}};
      return Json{{"anyOf", Json::array({is, list})}};
    });
  }

  // A reference to a definition under this name, or one with a number if another has it.
  template <class Make>
  Json define(const std::string& name, const Make& make) {
    std::string plain = name;
    for (char& c : plain) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    for (int number = 1;; ++number) {
      const std::string key = number == 1 ? plain : plain + "_" + std::to_string(number);
      const Json reference = {{"$ref", "#/$defs/" + key}};
      const Json made = make(reference);
      if (!definitions_.contains(key)) definitions_[key] = made;
      if (definitions_[key] == made) return reference;
    }
  }

  Json definitions_ = Json::object();
};

}  // namespace

Json spec_schema() {
  SchemaWriter writer;
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "mfbench experiment spec"}};
  schema.update(writer.object(spec_form_info(), false));
  schema["$defs"] = writer.definitions();
  return schema;
}

}  // namespace mf
