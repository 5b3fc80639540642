#include "actors/threads/allowed_cpus.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

// OpenMP's own names. They are null unless its runtime is part of the process. Only GCC's runtime
// binds the main thread before the program begins, and only there is it safe to ask for places:
// LLVM's would bind the thread that asks. `GOACC_declare` is in GCC's alone.
extern "C" {
int omp_get_num_places() __attribute__((weak));
int omp_get_place_num_procs(int place) __attribute__((weak));
void omp_get_place_proc_ids(int place, int* ids) __attribute__((weak));
void GOACC_declare() __attribute__((weak));
}
#endif

namespace penstock::actors {

#if defined(__linux__)
namespace {

/// A set of up to 8,192 CPUs. The C library's own has room for 1,024.
class CpuSet {
 public:
  /// The CPUs that a thread may use; none if the system does not say.
  static CpuSet of_thread(pid_t thread) noexcept {
    CpuSet set;
    if (sched_getaffinity(thread, sizeof(set.words_), set.words_.data()) != 0) return {};
    return set;
  }

  void add(const CpuSet& other) noexcept {
    CPU_OR_S(sizeof(words_), words_.data(), words_.data(), other.words_.data());
  }
  void add_cpu(int cpu) noexcept {
    if (cpu >= 0) CPU_SET_S(static_cast<std::size_t>(cpu), sizeof(words_), words_.data());
  }
  int size() const noexcept { return CPU_COUNT_S(sizeof(words_), words_.data()); }
  void use() const noexcept {
    if (size() > 0) sched_setaffinity(0, sizeof(words_), words_.data());
  }

 private:
  std::array<cpu_set_t, 8> words_ = {};
};

/// Whether an OpenMP runtime is asked to bind threads to CPUs. None does so by itself.
bool openmp_binds_threads() noexcept {
  if (const char* const binding = std::getenv("OMP_PROC_BIND"))
    return std::string_view(binding) != "false" && std::string_view(binding) != "FALSE";
  return std::getenv("OMP_PLACES") || std::getenv("GOMP_CPU_AFFINITY") ||
         std::getenv("KMP_AFFINITY");
}

void add_threads(CpuSet& set) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
  if (!tasks) return;
  while (const dirent* const task = readdir(tasks.get()))
    if (const int thread = std::atoi(task->d_name); thread > 0) set.add(CpuSet::of_thread(thread));
}

void add_openmp_places(CpuSet& set) {
  if (!GOACC_declare || !omp_get_num_places || !omp_get_place_num_procs || !omp_get_place_proc_ids)
    return;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cpus.data());
    for (const int cpu : cpus) set.add_cpu(cpu);
  }
}

CpuSet allowed_cpus() noexcept {
  CpuSet set = CpuSet::of_thread(0);
  set.add(CpuSet::of_thread(getpid()));  // the main thread, which has the process's number
  if (!openmp_binds_threads()) return set;
  add_threads(set);
  try {
    add_openmp_places(set);
  } catch (const std::bad_alloc&) {
    // The CPUs that are known without it have to do.
  }
  return set;
}

}  // namespace

void use_allowed_cpus() noexcept {
  allowed_cpus().use();
}

int allowed_cpu_count() noexcept {
  return std::max(1, allowed_cpus().size());
}

#else

void use_allowed_cpus() noexcept {}

int allowed_cpu_count() noexcept {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#endif

}  // namespace penstock::actors
