// While there is memory, a thread prepares for a time without any memory, in which it can then
// still throw, and use the variables that libraries keep for each thread. When a thread first looks
// at such a variable, and when it looks at one after a library was loaded, the C library may
// allocate memory. If there is none, the C library ends the process.
#pragma once

namespace penstock {

/// Returns whether the allocator has the memory that the C library may take when a thread begins,
/// and when a thread looks at a variable that a library keeps for each thread. Other threads may
/// take that memory between this call and that moment.
bool has_memory_for_thread_variables() noexcept;

/// Makes the calling thread look at the variables in which libstdc++ keeps the thread's exceptions,
/// so that throws on this thread need no memory of the C library until the host loads further
/// libraries. Returns false if there is no memory; the thread's next throw may then end the process
/// if it is the thread's first one, or the first one since libraries were loaded
/// (docs/embedding.md). A thread calls this function whenever it begins something new. Most calls
/// take less than 100 ns.
bool prepare_to_throw() noexcept;

}  // namespace penstock
