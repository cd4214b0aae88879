// Parsed once for all sources (mf_precompile): what takes long and most of them read. None of our
// own: a change to it would compile everything.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
