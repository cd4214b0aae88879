#include "algorithms/core/registry.hpp"
#include "datasets/synthetic.hpp"
#include "harness/spec.hpp"

namespace mf {
namespace {

// A scalar, or a list of them: a sweep.
Json sweepable(const Json& scalar) {
  return {{"anyOf", Json::array({scalar, Json{{"type", "array"}, {"items", scalar}}})}};
}

Json param_schema(const ParamSpec& spec) {
  Json schema;
  switch (spec.type) {
    case ParamSpec::Type::boolean:
      schema["type"] = "boolean";
      break;
    case ParamSpec::Type::integer:
      schema["type"] = "integer";
      break;
    case ParamSpec::Type::number:
      schema["type"] = "number";
      break;
    case ParamSpec::Type::choice:
      schema["enum"] = spec.choices;
      break;
  }
  if (spec.type == ParamSpec::Type::integer || spec.type == ParamSpec::Type::number) {
    schema["minimum"] = spec.min;
    schema["maximum"] = spec.max;
  }
  Json out = sweepable(schema);
  std::visit([&](const auto& value) { out["default"] = value; }, spec.fallback);
  out["description"] = spec.help;
  return out;
}

Json init_schema() {
  const Json kinds = {{"enum", {"normal", "uniform", "normal_over_factors"}}};
  const Json scale = {{"type", "number"}, {"minimum", 0}, {"maximum", 1e6}};
  return {{"type", "object"},
          {"properties", {{"kind", sweepable(kinds)}, {"scale", sweepable(scale)}}},
          {"additionalProperties", false}};
}

Json algorithm_schema(const AlgorithmInfo& info) {
  Json properties = {{"name", {{"const", info.name}}},
                     {"learning_rate", sweepable({{"type", "number"}})},
                     {"schedule", {{"type", "object"}}},
                     {"init", init_schema()},
                     {"stop", {{"type", "object"}}}};
  for (const auto& spec : info.params) properties[spec.name] = param_schema(spec);
  return {{"type", "object"},
          {"description", info.summary},
          {"properties", properties},
          {"required", {"name"}},
          {"additionalProperties", false}};
}

Json evaluate_schema() {
  const Json every = {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000'000'000}};
  const Json flag = {{"type", "boolean"}};
  const Json groups = {{"type", "integer"}, {"minimum", 0}, {"maximum", 1000}};
  return {
      {"type", "object"},
      {"properties", {{"every", every}, {"train", flag}, {"clip", flag}, {"user_groups", groups}}},
      {"additionalProperties", false}};
}

}  // namespace

Json spec_schema() {
  Json algorithms = Json::array({Json{{"type", "string"}}});
  for (const auto* info : all_algorithms()) algorithms.push_back(algorithm_schema(*info));
  const Json dataset = {
      {"anyOf", Json::array({Json{{"type", "string"}},
                             Json{{"type", "object"},
                                  {"properties",
                                   {{"name", {{"type", "string"}}},
                                    {"like", {{"enum", look_alike_names()}}}}}}})}};
  const auto object = Json{{"type", "object"}};
  Json properties;
  properties["name"] = {{"type", "string"}};
  properties["description"] = {{"type", "string"}};
  properties["datasets"] = {{"type", "array"}, {"minItems", 1}, {"items", dataset}};
  properties["split"] = object;
  properties["seeds"] = {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}};
  properties["baseline"] = {{"type", "string"}};
  properties["target_rmse"] = {{"type", "number"}};
  properties["save_model"] = {{"type", "boolean"}};
  properties["schedule"] = object;
  properties["init"] = init_schema();
  properties["stop"] = object;
  properties["evaluate"] = evaluate_schema();
  properties["algorithms"] = {
      {"type", "array"}, {"minItems", 1}, {"items", {{"anyOf", algorithms}}}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "mfbench experiment spec"},
          {"type", "object"},
          {"properties", properties},
          {"required", {"datasets", "algorithms"}},
          {"additionalProperties", false}};
}

}  // namespace mf
