// AllowedCpus are the CPUs that the engine's threads may use. A thread inherits those of the thread
// that starts it, and a host may have bound that one to a single CPU, which is not meant for the
// engine: its threads would all share that CPU. A set that the host gives its main thread is meant
// for the process, as when it is confined by `taskset -p` or by Python's os.sched_setaffinity(),
// unless OpenMP was told to bind threads: then its runtime has bound the main thread as well.
#pragma once

#if defined(__linux__)
#include <sched.h>

#include <array>
#endif

namespace penstock::actors {

/// Is a set of up to 8,192 CPUs. It is empty if the operating system does not say which ones a
/// thread may use.
class AllowedCpus {
 public:
  /// Returns the CPUs of the calling thread and those that the main thread may use now. Where the
  /// environment tells OpenMP to bind threads (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY or
  /// KMP_AFFINITY), they include those of every other thread of the process, and the places of
  /// GCC's OpenMP runtime if the process has that. No CPU is among them that the process was not
  /// started with, and the kernel itself enforces the limits of a container. Reads the environment,
  /// which the host may change at any other time, so that only a thread that calls for the host may
  /// call it.
  static AllowedCpus now() noexcept;

  /// Lets the calling thread use these CPUs, or does nothing if there is none in the set. Reads
  /// nothing of the process, so that any thread may call it.
  void use() const noexcept;

  /// Returns how many CPUs there are in the set, or in the machine if the set is empty; at least 1.
  int count() const noexcept;

#if defined(__linux__)
 private:
  class Collector;
  std::array<cpu_set_t, 8> words_ = {};  // The C library's own type has room for 1,024 CPUs.
#endif
};

}  // namespace penstock::actors
