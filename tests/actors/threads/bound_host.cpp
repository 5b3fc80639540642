// This program is a host that uses OpenMP, which may bind the host's threads to CPUs. It prints on
// how many CPUs its main thread may run, and on how many CPUs a thread of the engine may run.

#include <sched.h>

#include <atomic>
#include <cstdio>

#include "actors/threads/engine_thread.hpp"

namespace {

int cpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  return CPU_COUNT(&set);
}

}  // namespace

int main() {
  // ThreadSanitizer does not know how OpenMP's library orders its threads, but it knows an atomic.
  std::atomic<int> threads = 0;
#pragma omp parallel
  ++threads;
  int engine = 0;
  {
    const penstock::actors::EngineThread thread("engine", [&] { engine = cpus(); });
  }
  std::printf("%d %d\n", cpus(), engine);
  return threads > 0 ? 0 : 1;
}
