// The library in a host that loads it by dlopen(), with the C library's own allocator.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/engine/plugin/plugin.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/without_memory_left.hpp"

namespace penstock::testing {
namespace {

/// The functions of the plug-in, which is never unloaded: its library has threads.
struct Plugin {
  /// Returns false if the plug-in cannot be loaded.
  bool load() {
    void* const handle = ::dlopen(PENSTOCK_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    train = reinterpret_cast<decltype(train)>(::dlsym(handle, "train_a_model"));
    is_refused =
        reinterpret_cast<decltype(is_refused)>(::dlsym(handle, "is_refused_for_want_of_memory"));
    return train && is_refused;
  }

  decltype(&train_a_model) train = nullptr;
  decltype(&is_refused_for_want_of_memory) is_refused = nullptr;
};

// The variables that a thread has in such a library are there before it looks at them: the C
// library ends a process that has no memory for them by then.
TEST(Plugin, IsRefusedForWantOfMemoryOnAThreadThatHasNeverCalledIt) {
  for (const bool thread_is_older : {false, true}) {
    const int exit_code = exit_code_of_fork([&] {
      Plugin plugin;
      const auto load = [&] {
        if (plugin.load()) plugin.train();
      };
      if (!thread_is_older) load();
      return without_memory_left(
          [&] {
            if (thread_is_older) load();
          },
          [&] {
            if (!plugin.is_refused) return went_wrong;
            return plugin.is_refused() ? refused : worked;
          });
    });
    EXPECT_EQ(exit_code, refused) << "the thread is older than the library: " << thread_is_older;
  }
}

}  // namespace
}  // namespace penstock::testing
