// These tests check which CPUs the threads of the engine may use. They run on the main thread.

#include "actors/threads/allowed_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/threads/engine_thread.hpp"
#include "tests/actors/threads/on_threads.hpp"
#include "tests/support/command.hpp"
#include "tests/support/latch.hpp"

namespace penstock::actors {
namespace {

using testing::run_command;

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

TEST(AllowedCpus, AreAllThoughTheHostsThreadIsBoundToOne) {
  const std::vector<int> all = cpus_of_this_thread();
  for (const int cpu : all)
    on_host_thread([&] {
      bind_this_thread(cpu);
      on_engine_thread([&] { EXPECT_EQ(cpus_of_this_thread(), all); });
      EXPECT_EQ(cpus_of_this_thread(), std::vector<int>{cpu}) << "the host's own thread";
    });
  EXPECT_EQ(AllowedCpus::now().count(), static_cast<int>(all.size()));
}

/// While a Bound lives, the thread that constructed it is bound to one CPU.
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

/// An OtherThread is a thread that may use all CPUs that the main thread could use when the
/// OtherThread was constructed.
class OtherThread {
 public:
  OtherThread() { EXPECT_TRUE(runs_.wait()); }
  ~OtherThread() {
    may_end_.open();
    thread_.join();
  }
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;

 private:
  testing::Latch runs_, may_end_;
  std::thread thread_{[this] {
    runs_.open();
    EXPECT_TRUE(may_end_.wait());
  }};
};

/// While an OpenMpSettings lives, the environment tells OpenMP nothing about CPUs except for what
/// the test sets.
class OpenMpSettings {
 public:
  OpenMpSettings() {
    for (const char* const name : names) {
      const char* const value = std::getenv(name);
      before_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
    }
    clear();
  }
  ~OpenMpSettings() {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (before_[i])
        setenv(names[i], before_[i]->c_str(), 1);
      else
        unsetenv(names[i]);
  }
  OpenMpSettings(const OpenMpSettings&) = delete;
  OpenMpSettings& operator=(const OpenMpSettings&) = delete;

  void clear() {
    for (const char* const name : names) unsetenv(name);
  }
  /// Sets the variable in `setting`, which has the form NAME=value, and clears all others.
  void set_only(const std::string& setting) {
    clear();
    const std::size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }

 private:
  static constexpr std::array names = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                       "KMP_AFFINITY"};
  std::vector<std::optional<std::string>> before_;
};

TEST(AllowedCpus, AreThoseThatTheHostChoosesForItselfAtRunTime) {
  const OpenMpSettings none;
  const OtherThread other;
  for (const int cpu : cpus_of_this_thread()) {
    const Bound bound(cpu);
    on_engine_thread([&] { EXPECT_EQ(cpus_of_this_thread(), std::vector<int>{cpu}); });
    EXPECT_EQ(AllowedCpus::now().count(), 1);
  }
}

TEST(AllowedCpus, AreTheHostsChoiceWhereOpenMpIsToldToBindNothing) {
  OpenMpSettings settings;
  const OtherThread other;
  const Bound bound(cpus_of_this_thread().front());
  for (const std::string setting :
       {"OMP_PROC_BIND=false", "OMP_PROC_BIND=FALSE", "OMP_PROC_BIND=False",
        "OMP_PROC_BIND= fAlse ",
        "OMP_PROC_BIND=", "OMP_PLACES=", "GOMP_CPU_AFFINITY=", "KMP_AFFINITY=", "KMP_AFFINITY=none",
        "KMP_AFFINITY=None", "KMP_AFFINITY=disabled", "KMP_AFFINITY=verbose, none",
        "KMP_AFFINITY=DISABLED,verbose", "KMP_AFFINITY=granularity=fine,none"}) {
    settings.set_only(setting);
    EXPECT_EQ(AllowedCpus::now().count(), 1) << setting;
  }
}

TEST(AllowedCpus, AreThoseOfAllThreadsWhereOpenMpIsToldToBind) {
  OpenMpSettings settings;
  const int all = static_cast<int>(cpus_of_this_thread().size());
  const OtherThread other;
  const Bound bound(cpus_of_this_thread().front());
  for (const std::string setting :
       {"OMP_PROC_BIND=true", "OMP_PROC_BIND=close", "OMP_PROC_BIND=falsehood", "OMP_PLACES=cores",
        "GOMP_CPU_AFFINITY=0-1", "KMP_AFFINITY=compact", "KMP_AFFINITY=verbose,scatter",
        "KMP_AFFINITY=nonesuch"}) {
    settings.set_only(setting);
    EXPECT_EQ(AllowedCpus::now().count(), all) << setting;
  }
}

TEST(AllowedCpus, AreThoseOfTheStartingThreadBesideThoseOfTheMainThread) {
  const OpenMpSettings none;
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

/// Runs a program that prints how many CPUs its main thread may use, and how many a thread of the
/// engine, with `setting` in its environment. Returns what it prints.
std::string cpus_of_bound_host(const std::string& setting,
                               const char* program = PENSTOCK_BOUND_HOST) {
  const auto result = run_command({"/usr/bin/env", setting, program});
  EXPECT_EQ(result.code, 0) << result.err;
  return result.out;
}

std::string line(std::size_t host, std::size_t engine) {
  return std::to_string(host) + " " + std::to_string(engine) + "\n";
}

TEST(AllowedCpus, AreAllWhereOpenMpBindsTheMainThread) {
  const OpenMpSettings none;
  const std::size_t all = cpus_of_this_thread().size();
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=false"), line(all, all));
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=true"), line(1, all));
}

TEST(AllowedCpus, AreAllWhereOpenMpBindsTheMainThreadLater) {
  const OpenMpSettings none;
  const std::size_t all = cpus_of_this_thread().size();
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=false", PENSTOCK_BOUND_LATER_HOST), line(1, 1))
      << "the host has bound the thread itself";
  EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=true", PENSTOCK_BOUND_LATER_HOST), line(1, all));
}

TEST(AllowedCpus, AreAmongThoseThatTheProcessWasStartedWith) {
  const OpenMpSettings none;
  for (const int cpu : cpus_of_this_thread())
    on_host_thread([&] {
      bind_this_thread(cpu);  // A program that this thread starts may use only this CPU.
      EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=false"), line(1, 1));
      EXPECT_EQ(cpus_of_bound_host("OMP_PROC_BIND=true"), line(1, 1));
    });
}

}  // namespace
}  // namespace penstock::actors
