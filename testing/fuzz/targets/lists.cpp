// Lists of items that any program made, as `mfbench evaluate` judges them: for users and items that
// are numbers, and for those that are texts.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "harness/cli.hpp"
#include "testing/fuzz/scratch.hpp"
#include "testing/fuzz/target.hpp"

namespace mf::fuzz {
namespace {

// Twelve ratings of four users and four items.
std::string data_of(const std::string& name, bool named) {
  std::string text;
  for (int k = 0; k < 16; ++k) {
    if (k % 5 == 4) continue;
    const char user = static_cast<char>((named ? 'a' : '1') + k / 4);
    const char item = static_cast<char>((named ? 'w' : '1') + k % 4);
    text += std::string() + user + " " + item + " " + (k % 2 == 0 ? "5" : "3") + "\n";
  }
  const std::string path = write_scratch(name, text);
  return R"({"path": ")" + path + R"(", "format": "triples"})";
}

// Lines of a user, how many items he has in the test part, and the value of each metric.
void check_values(const std::string& path) {
  std::ifstream table(path);
  std::string line, field;
  std::getline(table, line);
  const auto columns = std::ranges::count(line, ',');
  int users = 0;
  for (; std::getline(table, line); ++users) {
    expect(std::ranges::count(line, ',') == columns, "a line has a value for each column");
    std::istringstream fields(line.substr(line.find(',', line.find(',') + 1) + 1));
    while (std::getline(fields, field, ',')) {
      const double value = std::stod(field);
      expect(value >= 0 && value <= 1, "a value of a ranking lies between 0 and 1");
    }
  }
  expect(users == 4, "each user of the test part has a line");
}

bool judges(const std::string& lists, const std::string& data) {
  const std::string values = scratch() / "values.csv";
  std::vector<std::string> words = {"mfbench",
                                    "evaluate",
                                    lists,
                                    "--data",
                                    data,
                                    "--split",
                                    R"({"leave_out": 1, "seed": 1})",
                                    "--metrics",
                                    "recall_2",
                                    "--per-user",
                                    values};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  const int code = cli_main(static_cast<int>(argv.size()), argv.data());
  expect(code == 0 || code == static_cast<int>(ErrorKind::data), "lists are taken or refused");
  if (code == 0) check_values(values);
  return code == 0;
}

void evaluate(std::string_view input) {
  static const std::string numbers = data_of("numbers.txt", false);
  static const std::string names = data_of("names.txt", true);
  const std::string path = write_scratch("lists.txt", input);
  const bool by_numbers = judges(path, numbers);
  const bool by_names = judges(path, names);
  if (!by_numbers && !by_names) fail(ErrorKind::data, "no lists");
}

const Registrar evaluate_target({"evaluate", evaluate});

}  // namespace
}  // namespace mf::fuzz
