#include "harness/cli_tree.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace mf {
namespace {

ValueKind kind_of(const CLI::App& app, const std::string& name) {
  for (const auto& command : commands_of(app)) {
    for (const auto& option : command.options) {
      if (option.positional == name) return option.kind;
      for (const auto& own : option.names) {
        if (own == name) return option.kind;
      }
    }
  }
  ADD_FAILURE() << "no option " << name;
  return ValueKind::none;
}

TEST(CliTree, AKindIsDeclaredWithTheOption) {
  CLI::App app;
  std::string text;
  bool flag = false;
  app.add_option("spec", text, "JSON file")->check(takes(ValueKind::spec));
  app.add_option("--into", text, "where")->check(takes(ValueKind::folder))->capture_default_str();
  app.add_option("--mirror", text, "URL of a folder with a file");
  app.add_option("--one", text, "which")->check(CLI::IsMember({"a", "b"}));
  app.add_flag("--keep", flag, "the file");
  EXPECT_EQ(kind_of(app, "spec"), ValueKind::spec);
  EXPECT_EQ(kind_of(app, "--into"), ValueKind::folder);
  EXPECT_EQ(kind_of(app, "--mirror"), ValueKind::text) << "its help decides nothing";
  EXPECT_EQ(kind_of(app, "--one"), ValueKind::choice);
  EXPECT_EQ(kind_of(app, "--keep"), ValueKind::none);
  EXPECT_NO_THROW(app.parse("any --into other"));
  EXPECT_EQ(app.get_option("--into")->get_type_name(), "TEXT") << "as without";
}

}  // namespace
}  // namespace mf
