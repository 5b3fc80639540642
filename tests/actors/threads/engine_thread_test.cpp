#include "actors/threads/engine_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <cfenv>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/threads/allowed_cpus.hpp"
#include "tests/support/command.hpp"
#include "tests/support/latch.hpp"

namespace penstock::actors {
namespace {

using testing::run_command;

/// Runs `body` on a thread of the engine.
template <class Body>
void on_engine_thread(Body body) {
  const EngineThread thread("engine", body);
}

/// Runs `body` on a thread of the host's, which `body` may change as it likes.
template <class Body>
void on_host_thread(Body body) {
  std::thread(body).join();
}

std::vector<int> cpus_of_this_thread() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

void bind_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/// The signals that a program may block, and that are blocked on this thread.
std::vector<int> blocked_signals() {
  sigset_t set;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  std::vector<int> blocked;
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (sigismember(&set, signal) == 1) blocked.push_back(signal);
  return blocked;
}

std::vector<int> all_signals() {
  std::vector<int> all;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool of_the_c_library = signal > SIGSYS && signal < SIGRTMIN;
    if (signal != SIGKILL && signal != SIGSTOP && !of_the_c_library) all.push_back(signal);
  }
  return all;
}

TEST(EngineThread, HasEverySignalBlockedWhateverTheHostBlocks) {
  for (const int how : {SIG_BLOCK, SIG_UNBLOCK})
    on_host_thread([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(how, &all, nullptr);
      const std::vector<int> before = blocked_signals();
      on_engine_thread([] { EXPECT_EQ(blocked_signals(), all_signals()); });
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

TEST(EngineThread, MayUseEveryCpuThoughTheHostsThreadIsBoundToOne) {
  const std::vector<int> all = cpus_of_this_thread();
  for (const int cpu : all)
    on_host_thread([&] {
      bind_this_thread(cpu);
      on_engine_thread([&] { EXPECT_EQ(cpus_of_this_thread(), all); });
      EXPECT_EQ(cpus_of_this_thread(), std::vector<int>{cpu}) << "the host's own thread";
    });
  EXPECT_EQ(allowed_cpu_count(), static_cast<int>(all.size()));
}

/// While it lives, the calling thread is bound to one CPU.
class Bound {
 public:
  explicit Bound(int cpu) {
    EXPECT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0);
    bind_this_thread(cpu);
  }
  ~Bound() { EXPECT_EQ(sched_setaffinity(0, sizeof(before_), &before_), 0); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_;
};

// This is the main thread. Another thread goes on with all CPUs.
TEST(EngineThread, KeepsToTheCpusThatTheHostChoosesForItselfAtRunTime) {
  testing::Latch other_runs, other_may_end;
  std::thread other([&] {
    other_runs.open();
    EXPECT_TRUE(other_may_end.wait());
  });
  EXPECT_TRUE(other_runs.wait());
  for (const int cpu : cpus_of_this_thread()) {
    const Bound bound(cpu);
    on_engine_thread([&] { EXPECT_EQ(cpus_of_this_thread(), std::vector<int>{cpu}); });
    EXPECT_EQ(allowed_cpu_count(), 1);
  }
  other_may_end.open();
  other.join();
}

TEST(EngineThread, MayUseTheCpusOfTheThreadThatStartsItBesideThoseOfTheMainThread) {
  const std::vector<int> all = cpus_of_this_thread();
  const Bound main_thread(all.front());
  on_host_thread([&] {
    bind_this_thread(all.back());
    on_engine_thread([&] {
      EXPECT_EQ(cpus_of_this_thread(),
                all.size() == 1 ? all : (std::vector<int>{all.front(), all.back()}));
    });
  });
}

/// What the host that uses OpenMP prints: the numbers of CPUs of its main thread and the engine's.
std::string cpus_of_bound_host(const std::string& setting) {
  const auto result = run_command({"/usr/bin/env", setting, PENSTOCK_BOUND_HOST});
  EXPECT_EQ(result.code, 0) << result.err;
  return result.out;
}

std::string line(std::size_t host, std::size_t engine) {
  return std::to_string(host) + " " + std::to_string(engine) + "\n";
}

TEST(EngineThread, MayUseEveryCpuWhereOpenMpBindsTheMainThread) {
  const std::size_t all = cpus_of_this_thread().size();
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=false"), line(all, all));
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=true"), line(1, all));
}

TEST(EngineThread, KeepsToTheCpusThatTheProcessWasStartedWith) {
  for (const int cpu : cpus_of_this_thread())
    on_host_thread([&] {
      bind_this_thread(cpu);  // a program that is started from here may use this one only
      EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=false"), line(1, 1));
      EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=true"), line(1, 1));
    });
}

}  // namespace
}  // namespace penstock::actors
