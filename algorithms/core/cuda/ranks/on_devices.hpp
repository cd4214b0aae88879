// An algorithm that several ranks compute together, each with its device.
#pragma once

#include "algorithms/core/cuda/ranks/device_communicator.hpp"
#include "algorithms/core/ranks/ranked.hpp"
#include "base/json/json.hpp"

namespace mf::cuda {

template <class Base = Algorithm>
class OnDevices : public Base, public OnRanks {
 public:
  using Base::Base;

  std::int64_t run_epochs(const EpochArgs& first, std::int64_t count, Context& context) override {
    if (devices_ == nullptr) return Base::run_epochs(first, count, context);
    return devices_->guarded([&] {
      const std::int64_t updates = Base::run_epochs(first, count, context);
      end_epochs();
      devices_->wait(context.stream);
      return updates;
    });
  }

  void gather_factors(Context& context) override {
    if (devices_ == nullptr) return;
    devices_->guarded([&] {
      const ExchangeUse epochs = devices_->use();
      gather(context.stream);
      devices_->wait(context.stream);
      devices_->set_use(epochs);
    });
  }

  Json exchanged() const override {
    if (devices_ == nullptr) return nullptr;
    const ExchangeUse& use = devices_->use();
    return {{"seconds_s", use.seconds},
            {"count", use.count},
            {"bytes_sent", use.bytes_sent},
            {"bytes_received", use.bytes_received}};
  }

 protected:
  // In `prepare` of a rank: `make` makes its share.
  template <class Make>
  void prepare_on(DeviceCommunicator& devices, Context& context, const Make& make) {
    devices_ = &devices;
    devices.guarded([&] {
      make();
      devices.wait(context.stream);
    });
    devices.set_use({});  // of the epochs only
  }

  DeviceCommunicator* devices_ = nullptr;  // null: one rank

 private:
  // Queued: what follows the last of several epochs; the rows of all ranks to rank 0.
  virtual void end_epochs() {}
  virtual void gather(cudaStream_t stream) = 0;
};

}  // namespace mf::cuda
