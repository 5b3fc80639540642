// AllowedCpus are the CPUs that the engine's threads may use. A thread inherits the CPUs of the
// thread that starts it. The host may have bound that thread to a single CPU, but the engine's
// threads are not meant to share one CPU. The CPUs of the main thread, however, are meant for the
// whole process: `taskset -p` and Python's os.sched_setaffinity() confine the process by confining
// its main thread. The exception is a process in which OpenMP was told to bind threads, because its
// runtime has bound the main thread, too.
#pragma once

#if defined(__linux__)
#include <sched.h>

#include <array>
#endif

namespace penstock::actors {

/// An AllowedCpus is a set of up to 8,192 CPUs. The set is empty if the operating system does not
/// say which CPUs a thread may use.
class AllowedCpus {
 public:
  /// Returns the CPUs that the calling thread and the main thread may use now. If the environment
  /// tells OpenMP to bind threads (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY or KMP_AFFINITY),
  /// the set also has the CPUs of every other thread of the process, those in the places of GCC's
  /// OpenMP runtime if the process has that runtime, and those that the thread which loaded this
  /// library could use then. The set has only CPUs that the process was started with, and the
  /// kernel itself enforces the limits of a container. The function reads the environment, which
  /// the host may change while no call of the engine is under way. Therefore, only a thread that
  /// works on a call by the host may call this function.
  static AllowedCpus now() noexcept;

#if defined(__linux__)
  /// Returns the CPUs that the calling thread may use now.
  static AllowedCpus of_this_thread() noexcept;
#endif

  /// Lets the calling thread use these CPUs, or does nothing if the set is empty. Any thread may
  /// call this function at any time, because it does not read the environment.
  void use() const noexcept;

  /// Returns how many CPUs are in the set, or in the machine if the set is empty. The result is at
  /// least 1.
  int count() const noexcept;

#if defined(__linux__)
 private:
  class Collector;
  std::array<cpu_set_t, 8> words_ = {};  // Each element has room for 1,024 CPUs.
#endif
};

}  // namespace penstock::actors
