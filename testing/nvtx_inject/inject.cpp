// A profiler's view of a program's NVTX calls: NVTX loads this library into a program if
// NVTX_INJECTION64_PATH names it, and it writes a line a call to the file that NVTX_INJECT_LOG
// names: thread, nanoseconds, what, domain, name. Calls outside of a domain have the domain "-".
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::mutex mutex;
std::FILE* log_file = nullptr;
std::vector<std::string> domains;  // a handle is the number of one, from 1 on

const char* name_of(nvtxDomainHandle_t domain) {
  const auto number = reinterpret_cast<std::uintptr_t>(domain);
  return number >= 1 && number <= domains.size() ? domains[number - 1].c_str() : "-";
}

const char* message_of(const nvtxEventAttributes_t* event) {
  const bool ascii = event->messageType == NVTX_MESSAGE_TYPE_ASCII;
  return ascii && event->message.ascii != nullptr ? event->message.ascii : "(no ASCII message)";
}

void tell(const char* what, nvtxDomainHandle_t domain, const char* name) {
  const std::lock_guard lock(mutex);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  std::fprintf(log_file, "%ld\t%lld\t%s\t%s\t%s\n", static_cast<long>(::syscall(SYS_gettid)),
               static_cast<long long>(ns), what, name_of(domain), name);
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  std::uintptr_t number = 0;
  {
    const std::lock_guard lock(mutex);
    domains.emplace_back(name);
    number = domains.size();
  }
  const auto handle = reinterpret_cast<nvtxDomainHandle_t>(number);
  tell("domain", handle, "");
  return handle;
}

int NVTX_API push_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  tell("push", domain, message_of(event));
  return 0;
}

int NVTX_API pop_in_domain(nvtxDomainHandle_t domain) {
  tell("pop", domain, "");
  return 0;
}

int NVTX_API push_ex(const nvtxEventAttributes_t* event) { return push_in_domain(nullptr, event); }

int NVTX_API push(const char* name) {
  tell("push", nullptr, name);
  return 0;
}

int NVTX_API pop() { return pop_in_domain(nullptr); }

class Functions {
 public:
  Functions(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  bool put(unsigned int number, NvtxFunctionPointer function) {
    if (number >= size_) return false;
    *table_[number] = function;
    return true;
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned int size_ = 0;
};

template <class Function>
NvtxFunctionPointer pointer(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

// 1: this library listens.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const char* path = std::getenv("NVTX_INJECT_LOG");
  if (path == nullptr) return 0;
  log_file = std::fopen(path, "w");
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (log_file == nullptr || callbacks == nullptr) return 0;
  std::setvbuf(log_file, nullptr, _IOLBF, 0);  // whole lines, also of a program that is killed
  Functions core(*callbacks, NVTX_CB_MODULE_CORE), core2(*callbacks, NVTX_CB_MODULE_CORE2);
  const bool all = core.put(NVTX_CBID_CORE_RangePushEx, pointer(push_ex)) &&
                   core.put(NVTX_CBID_CORE_RangePushA, pointer(push)) &&
                   core.put(NVTX_CBID_CORE_RangePop, pointer(pop)) &&
                   core2.put(NVTX_CBID_CORE2_DomainCreateA, pointer(create_domain)) &&
                   core2.put(NVTX_CBID_CORE2_DomainRangePushEx, pointer(push_in_domain)) &&
                   core2.put(NVTX_CBID_CORE2_DomainRangePop, pointer(pop_in_domain));
  return all ? 1 : 0;
}
