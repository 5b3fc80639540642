#include "benchmarks/machine/one_core.hpp"

#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace penstock::benchmarks {
namespace {

void stay_on_first_core() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int core = 0;
  while (core < CPU_SETSIZE && !CPU_ISSET(core, &allowed)) ++core;
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(core, &first);
  sched_setaffinity(0, sizeof first, &first);
#endif
}

}  // namespace

void on_one_core(const std::function<void()>& work) {
  std::thread([&work] {
    stay_on_first_core();
    work();
  }).join();
}

}  // namespace penstock::benchmarks
