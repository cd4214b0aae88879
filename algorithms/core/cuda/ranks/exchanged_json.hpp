// OnRanks::exchanged() of a device's part in the exchanges.
#pragma once

#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "base/json/json.hpp"

namespace mf::cuda {

inline Json exchanged_json(const DeviceCommunicator* devices) {
  if (devices == nullptr) return nullptr;
  const ExchangeUse& use = devices->use();
  return {{"seconds_s", use.seconds},
          {"count", use.count},
          {"bytes_sent", use.bytes_sent},
          {"bytes_received", use.bytes_received}};
}

}  // namespace mf::cuda
