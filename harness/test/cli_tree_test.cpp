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

TEST(CliTree, HelpsAreTheSameByEveryVersionOfTheLibrary) {
  CLI::App app;
  app.formatter(help_formatter());
  int warmup = 2;
  std::string pin = "none";
  auto* command = app.add_subcommand("run", "runs");
  command->add_option("--profile", "epochs");
  command->add_option("--warmup", warmup, "before those")
      ->capture_default_str()
      ->needs("--profile");
  command->add_option("--pin", pin, "where")->capture_default_str();
  const std::string help = command->help();
  EXPECT_NE(help.find("--warmup INT=2 Needs: --profile"), std::string::npos) << help;
  EXPECT_NE(help.find("--pin TEXT=none "), std::string::npos) << help;
}

}  // namespace
}  // namespace mf
