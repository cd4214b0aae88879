// The parameters of `als`, resolved, and its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/als/cumf/matrix.hpp"
#include "algorithms/als/settings.hpp"

namespace mf::als {

inline constexpr Names kLoads{
    std::to_array<Named<Load>>({{"coalesced", Load::coalesced},
                                {"noncoalesced_l1", Load::noncoalesced_l1},
                                {"noncoalesced_nol1", Load::noncoalesced_nol1}})};
inline constexpr Names kAStorages{
    std::to_array<Named<AStorage>>({{"fp32", AStorage::fp32}, {"fp16", AStorage::fp16}})};

// Devices send each other the factors that each has solved, or the parts of A_u and b_u that each
// has formed from its share of the other side.
enum class Exchange { gather, reduce };
inline constexpr Names kExchanges{
    std::to_array<Named<Exchange>>({{"gather", Exchange::gather}, {"reduce", Exchange::reduce}})};

struct AlsSettings {
  Common common;
  Solver solver;
  Load load;
  AStorage a_storage;
  std::int64_t batch_rows;  // 0: chosen from the free memory; tests ask for fewer
  std::int64_t split_rows;  // longer rows are cut into parts; 0: never
  Exchange exchange = Exchange::gather;
};

std::vector<ParamSpec> als_params();
AlsSettings read_als_settings(const Params& params);
std::optional<std::string> als_why_unsupported(const Params& params, const ProblemShape& shape);
MemoryUse als_memory(const Params& params);

}  // namespace mf::als
