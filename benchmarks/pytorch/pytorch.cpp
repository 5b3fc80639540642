#include "benchmarks/pytorch/pytorch.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace penstock::benchmarks {
namespace {

/// Loads the module and returns its Pytorch, or returns null if there is no module. The module is
/// never closed, because libtorch's threads outlive every call.
Pytorch* load() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  void* module = dlopen((folder / "pytorch_module.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return nullptr;
  const auto instance =
      reinterpret_cast<Pytorch* (*)()>(dlsym(module, "penstock_benchmarks_pytorch"));
  return instance == nullptr ? nullptr : instance();
}

}  // namespace

Pytorch* pytorch() {
  static Pytorch* const loaded = load();
  return loaded;
}

}  // namespace penstock::benchmarks
