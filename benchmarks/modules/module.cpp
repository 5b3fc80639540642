#include "benchmarks/modules/module.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace penstock::benchmarks {

void* module_function(const char* file, const char* function) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  void* module = dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL);
  return module == nullptr ? nullptr : dlsym(module, function);
}

}  // namespace penstock::benchmarks
