// While there is memory, a thread prepares for a time without any: then it can still throw, and use
// the variables that libraries keep for each thread. When a thread first looks at such a variable,
// and when it looks at one after a library was loaded, the C library may allocate memory; if it
// cannot, it ends the process.
#pragma once

namespace penstock {

/// Returns whether the allocator has the memory that the C library may take when a thread begins,
/// and when it looks at a variable. Other threads may take it between this call and that look.
bool has_memory_for_thread_variables() noexcept;

/// Lets the calling thread look at what libstdc++ keeps of the thread's exceptions, so that throws
/// on this thread need no memory of the C library until a host loads further libraries. Returns
/// false if there is no memory; the thread's next throw may then end the process if it is the
/// thread's first one, or the first one since libraries were loaded (docs/embedding.md). A thread
/// calls this whenever it begins something new; it mostly takes less than 100 ns.
bool prepare_to_throw() noexcept;

}  // namespace penstock
