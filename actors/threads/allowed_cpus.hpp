// The CPUs that the engine's threads may use. A thread inherits those of the thread that starts it,
// and a host may have bound that one to a single CPU: by itself, or because OpenMP binds threads
// (OMP_PROC_BIND binds the main thread before main() is reached). Such a binding is not meant for
// the engine, whose threads would all share that CPU.
#pragma once

namespace penstock::actors {

/// Lets the calling thread use every CPU that is known to be the process's. These are, together,
/// the CPUs that the thread which loaded Penstock might use then, those that any thread of the
/// process may use now, and the places of an OpenMP runtime (GCC's) in the process. A process that
/// was started under taskset keeps to the CPUs that it was given, for none of these goes beyond
/// them; the kernel itself enforces the limits of a container. Does nothing where the operating
/// system does not say. Any thread.
void use_allowed_cpus() noexcept;

/// The number of those CPUs, at least 1.
int allowed_cpu_count() noexcept;

}  // namespace penstock::actors
