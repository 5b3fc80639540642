// The CPUs that the engine's threads may use. A thread inherits those of the thread that starts it,
// and a host may have bound that one to a single CPU, which is not meant for the engine: its
// threads would all share that CPU. A set that the host gives its main thread is meant for the
// process, as when it is confined by `taskset -p` or by Python's os.sched_setaffinity(), unless
// OpenMP was told to bind threads, for then its runtime has bound the main thread as well.
#pragma once

namespace penstock::actors {

/// Lets the calling thread use, besides its own CPUs, those that the main thread may use now. Where
/// the environment tells OpenMP to bind threads (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY or
/// KMP_AFFINITY), it may also use those of every other thread of the process, and the places of
/// GCC's OpenMP runtime if the process has that. No CPU is added that the process was not started
/// with, and the kernel itself enforces the limits of a container. Does nothing where the operating
/// system does not say. Any thread may call it.
void use_allowed_cpus() noexcept;

/// The number of those CPUs, at least 1.
int allowed_cpu_count() noexcept;

}  // namespace penstock::actors
