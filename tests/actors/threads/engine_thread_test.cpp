#include "actors/threads/engine_thread.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cfenv>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/actors/threads/on_threads.hpp"
#include "tests/support/latch.hpp"

namespace penstock::actors {
namespace {

/// Returns the numbers of the signals that are blocked on this thread.
std::vector<int> blocked_signals() {
  sigset_t set;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  std::vector<int> blocked;
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (sigismember(&set, signal) == 1) blocked.push_back(signal);
  return blocked;
}

/// Returns every signal but those that cannot be blocked, those of the C library, and those that a
/// thread's own instructions cause.
std::vector<int> signals_to_block() {
  const std::set<int> others{SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  std::vector<int> all;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool of_the_c_library = signal > SIGSYS && signal < SIGRTMIN;
    if (!others.contains(signal) && !of_the_c_library) all.push_back(signal);
  }
  return all;
}

TEST(EngineThread, HasEverySignalOfOthersBlockedWhateverTheHostBlocks) {
  for (const int how : {SIG_BLOCK, SIG_UNBLOCK})
    on_host_thread([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(how, &all, nullptr);
      const std::vector<int> before = blocked_signals();
      on_engine_thread([] { EXPECT_EQ(blocked_signals(), signals_to_block()); });
      EXPECT_EQ(blocked_signals(), before) << "the host's own thread";
    });
}

TEST(EngineThread, RoundsToNearestWhateverTheHostRoundsTo) {
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    on_host_thread([&] {
      std::fesetround(mode);
      on_engine_thread([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
      EXPECT_EQ(std::fegetround(), mode) << "the host's own thread";
    });
}

#if defined(__GLIBC__)
TEST(EngineThread, TrapsNoFloatingPointException) {
  on_host_thread([] {
    feenableexcept(FE_ALL_EXCEPT);
    on_engine_thread([] { EXPECT_EQ(fegetexcept(), 0); });
    EXPECT_EQ(fegetexcept(), FE_ALL_EXCEPT) << "the host's own thread";
    fedisableexcept(FE_ALL_EXCEPT);
  });
}

TEST(EngineThread, HasAStackOfItsOwnSizeWhateverTheDefaultIs) {
  pthread_attr_t usual, small;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  EXPECT_EQ(pthread_setattr_default_np(&small), 0);
  on_engine_thread([] {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    std::size_t bytes = 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    EXPECT_GE(bytes, std::size_t{8} << 20);
    pthread_attr_destroy(&attributes);
  });
  pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&small);
  pthread_attr_destroy(&usual);
}
#endif

TEST(EngineThread, IsNotWaitedForOnceItIsDetached) {
  struct Latches {
    testing::Latch may_end, ended;
  };
  const auto latches = std::make_shared<Latches>();
  EngineThread("engine", [latches] {
    EXPECT_TRUE(latches->may_end.wait());
    latches->ended.open();
  }).detach();
  latches->may_end.open();
  EXPECT_TRUE(latches->ended.wait());
}

TEST(EngineThread, BearsAsMuchOfItsNameAsTheSystemTakes) {
  const EngineThread thread("a name of more than fifteen characters", [] {
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof(name));
    EXPECT_STREQ(name, "a name of more ");
  });
}

}  // namespace
}  // namespace penstock::actors
