// These tests run the engine in hosts that have set up their threads in some way, such as with
// blocked signals. The engine's threads do not inherit that, and a training has the same bits.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cfenv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/small_engine.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using testing::run_step;
using testing::same_bits;
using testing::SmallNetwork;

/// An Environment is what a host has set for the thread that calls the engine.
struct Environment {
  std::string name;
  std::function<void()> set_up;
};

void set_signals(int how) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(how, &all, nullptr);
}

void bind_to_one_cpu() {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

std::vector<Environment> environments() {
  std::vector<Environment> all{
      {"signals blocked", [] { set_signals(SIG_BLOCK); }},
      {"no signal blocked", [] { set_signals(SIG_UNBLOCK); }},
      {"bound to a CPU", bind_to_one_cpu},
      {"upward", [] { std::fesetround(FE_UPWARD); }},
      {"downward", [] { std::fesetround(FE_DOWNWARD); }},
      {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
  };
#if defined(__GLIBC__)
  all.push_back({"traps", [] { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }});
#endif
  return all;
}

/// Returns those lines of a thread's status that say which signals it blocks and which CPUs it may
/// use.
std::string surroundings_of(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  std::string lines, line;
  while (std::getline(status, line))
    if (line.starts_with("SigBlk:") || line.starts_with("Cpus_allowed_list:")) lines += line + " ";
  return lines;
}

std::set<std::string> tasks() {
  std::set<std::string> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(task.path().string());
  return all;
}

struct TrainedInHost {
  Variables weights;
  // This has what surroundings_of() returns for each thread of the engine.
  std::set<std::string> threads;
};

/// Trains on a new thread, which is set up as `environment` says.
TrainedInHost train(const SmallNetwork& network, const Environment& environment) {
  const std::vector<Tensor> first = network.first_variables(), inputs = network.inputs(2);
  const std::int64_t micro_batches = network.micro_batches(2);
  TrainedInHost training;
  std::thread([&] {
    const std::set<std::string> before = tasks();
    environment.set_up();
    PipelineRuntime runtime(network.setup(), network.rules(), SystemOptions{.threads = 2});
    runtime.write_variables(first);
    run_step(runtime, inputs, micro_batches);
    training.weights = runtime.read_variables();
    for (const std::string& task : tasks()) {
      if (before.contains(task)) continue;
      // Once a thread waits for mail, the C library has finished setting it up.
      EXPECT_TRUE(testing::comes_to_wait(std::stoi(std::filesystem::path(task).filename())));
      training.threads.insert(surroundings_of(task));
    }
  }).join();
  return training;
}

TEST(HostEnvironments, ReachNeitherTheBitsNorTheThreadsOfATraining) {
  const SmallNetwork network(
      {.replicas = 2, .max_grad_norm = 0.05, .rule = "adamw", .deterministic = false});
  const TrainedInHost expected = train(network, {"none", [] {}});
  EXPECT_EQ(expected.threads.size(), 1u) << "the engine's threads differ";
  for (const Environment& environment : environments()) {
    SCOPED_TRACE(environment.name);
    const TrainedInHost training = train(network, environment);
    EXPECT_TRUE(same_bits(training.weights, expected.weights));
    EXPECT_EQ(training.threads, expected.threads);
  }
}

}  // namespace
}  // namespace penstock::actors
