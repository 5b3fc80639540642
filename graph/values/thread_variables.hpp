// A thread prepares, while there is memory, what it needs to throw and to use the variables that
// libraries keep for each thread when there is none. When a thread first looks at such a variable,
// the C library may allocate memory; if it cannot, it ends the process.
#pragma once

namespace penstock {

/// Returns whether the allocator has the memory that the C library may take at the thread's first
/// look at the variables of a library. Other threads may take it between this call and that look.
bool has_memory_for_thread_variables() noexcept;

/// Lets the calling thread look at what libstdc++ keeps of the thread's exceptions, so that later
/// throws on this thread need no memory of the C library. Returns false if there is no memory; the
/// first throw may then end the process, unless the loader found room for these variables when it
/// loaded libstdc++. A thread that was prepared before needs no memory, unless the host has loaded
/// libraries since for which the thread's table has no room (docs/embedding.md).
bool prepare_to_throw() noexcept;

}  // namespace penstock
