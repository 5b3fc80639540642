// What a thread has to do before it uses CAF. CAF keeps a variable for each thread that has a
// destructor. At a thread's first use of it, the C library registers that destructor, for which it
// allocates a few bytes; if it gets none, it ends the process.
#pragma once

#include <memory>

namespace penstock::actors {

/// Makes sure that there is memory, and lets the calling thread use that variable. False if there
/// is no memory; the thread then has to leave CAF alone. What is left to chance is the moment
/// between the two, in which other threads would have to take 64 KiB.
bool try_to_enter_caf() noexcept;

/// The same. @throws std::bad_alloc if there is no memory.
void enter_caf();

/// Memory that is kept back for a thread that may have to enter and cannot be refused. It is given
/// back right before.
using EntryMemory = std::unique_ptr<void, void (*)(void*)>;
/// @throws std::bad_alloc
EntryMemory keep_entry_memory();

}  // namespace penstock::actors
