// A thread calls one of these functions before it uses CAF. CAF keeps a variable with a destructor
// for each thread. When a thread uses that variable for the first time, the C library registers the
// destructor and allocates a few bytes for that. If there is no memory, the C library ends the
// process.
#pragma once

namespace penstock::actors {

/// Makes sure that there is memory for CAF's variable, and lets the calling thread use CAF and
/// throw. Returns false if there is no memory; in that case, the thread must not use CAF. For a
/// thread that has used CAF before, the function always returns true. Otherwise it looks for 32 KiB
/// of memory right before it uses the variable, so that other threads have little time to take the
/// memory.
bool try_to_enter_caf() noexcept;

/// Does what try_to_enter_caf() does, but throws if there is no memory. @throws std::bad_alloc
void enter_caf();

/// An EntryMemory is address space that is kept back for a thread that has to use CAF and cannot be
/// refused, such as a thread that runs a destructor. It belongs to no allocator, so that the
/// allocations of any thread find it once it is given back. It takes no page of the machine's
/// memory.
class EntryMemory {
 public:
  /// @throws std::bad_alloc
  EntryMemory();
  ~EntryMemory() { give_back(); }
  EntryMemory(const EntryMemory&) = delete;
  EntryMemory& operator=(const EntryMemory&) = delete;

  /// Gives the memory back, and then lets the calling thread use CAF and throw. Returns false if
  /// other threads have taken the memory and no attempt within a second finds any; if the thread
  /// uses CAF nevertheless, the process may be ended. A thread that has used CAF before does not
  /// wait.
  bool enter_caf_with_it() noexcept;

 private:
  void give_back() noexcept;

  void* pages_;  // This is null once the pages have been given back.
};

}  // namespace penstock::actors
