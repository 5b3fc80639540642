// This test checks that the environment is read on the thread that starts a thread of the engine,
// and never on the new thread. A host may change the environment whenever it makes no call, and the
// C library does not protect a thread that reads the environment from another one that writes it.
// This program has a getenv() of its own, which counts its calls.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "actors/threads/engine_thread.hpp"

namespace {

thread_local int reads_here = 0;
std::atomic<int> reads_everywhere{0};

}  // namespace

extern "C" char* getenv(const char* name) noexcept {
  ++reads_here;
  ++reads_everywhere;
  const std::size_t length = std::strlen(name);
  for (char** each = environ; each && *each; ++each)
    if (std::strncmp(*each, name, length) == 0 && (*each)[length] == '=') return *each + length + 1;
  return nullptr;
}

namespace penstock::actors {
namespace {

TEST(EnvironmentReads, AreMadeByTheThreadThatStartsAnEngineThread) {
  const int before = reads_everywhere, before_here = reads_here;
  int of_new_thread = 0;
  {
    const EngineThread thread("engine", [&] { of_new_thread = reads_here; });
  }
  EXPECT_EQ(of_new_thread, 0);
  EXPECT_GT(reads_here, before_here) << "the test would not see what is read";
  EXPECT_EQ(reads_everywhere - before, reads_here - before_here);
}

}  // namespace
}  // namespace penstock::actors
