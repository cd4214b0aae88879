// Parsed once for all sources (mf_precompile): what takes long and most of them read. No header of
// our own: a change to it would compile everything. Not JSON: to load it takes each source half of
// the time that parsing it takes those few that need it.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
