#include "algorithms/core/ranks/nccl_library.hpp"
#include "harness/cli.hpp"

int main(int argc, char** argv) {
  mf::set_nccl_defaults();
  return mf::cli_main(argc, argv);
}
