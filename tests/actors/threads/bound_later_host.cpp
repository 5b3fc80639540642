// This host stands for one that uses LLVM's OpenMP, whose runtime binds the main thread to a CPU
// once the thread uses OpenMP for the first time. The program prints on how many CPUs its main
// thread may run then, and on how many a thread of the engine may run.

#include <sched.h>

#include <cstdio>

#include "actors/threads/engine_thread.hpp"

namespace {

int cpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  return CPU_COUNT(&set);
}

void bind_to_this_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
}

}  // namespace

int main() {
  bind_to_this_cpu();
  int engine = 0;
  {
    const penstock::actors::EngineThread thread("engine", [&] { engine = cpus(); });
  }
  std::printf("%d %d\n", cpus(), engine);
}
