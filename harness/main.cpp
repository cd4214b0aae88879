#include "harness/cli.hpp"

int main(int argc, char** argv) { return mf::cli_main(argc, argv); }
