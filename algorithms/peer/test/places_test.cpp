#include "algorithms/peer/places.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "testing/temp_folder.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

TEST(InstalledPackages, NameNoFolderOfTheMachine) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "libmf");
  test::write_file(folder / "libmf/installed.txt",
                   "numpy==2.4.6\n"
                   "libmf @ file:///home/me/my wheels/libmf-0.9.2.tar.gz#sha256=00/11\n"
                   "x @ file:///home/me/x-1.whl\n"
                   "y @ git+https://example.org/a/y\n");
  ::setenv("MFBENCH_PEERS", folder.path().c_str(), 1);
  EXPECT_EQ(peer::installed_packages("libmf"),
            (std::vector<std::string>{"numpy==2.4.6", "libmf @ libmf-0.9.2.tar.gz#sha256=00/11",
                                      "x @ x-1.whl", "y @ git+https://example.org/a/y"}));
  EXPECT_TRUE(peer::installed_packages("none").empty());
  ::unsetenv("MFBENCH_PEERS");
}

}  // namespace
}  // namespace mf
