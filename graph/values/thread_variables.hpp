// thread_variables: what a thread prepares while there is memory, so that it can throw, and use the
// variables that libraries keep for each thread, when there is none. At a thread's first look at
// such a variable, the C library may allocate. If it cannot, it ends the process.
#pragma once

namespace penstock {

/// Returns whether the allocator has the memory that the C library may take at the thread's first
/// look at the variables of a library. Other threads may take it between this call and that look.
bool has_memory_for_thread_variables() noexcept;

/// Lets the calling thread look at what libstdc++ keeps of the thread's exceptions. Later throws on
/// this thread need no memory of the C library. Returns false if there is no memory; the first
/// throw may end the process then, unless the loader found room for these variables when it loaded
/// libstdc++. A thread that has been prepared before needs no memory.
bool prepare_to_throw() noexcept;

}  // namespace penstock
