#include "base/error.hpp"
#include "harness/device/device_model.hpp"

#ifndef MF_HAVE_CUDA
namespace mf {

Model download_model(const FactorView&, DeviceStream) {
  fail(ErrorKind::unsupported,
       "the factors are in device memory, and this build has no CUDA to copy them from there");
}

}  // namespace mf
#endif
