// The same for tests.
#pragma once

#include <gtest/gtest.h>

#include "cmake/precompiled_library.hpp"
