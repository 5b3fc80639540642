// A thread calls one of these functions before it uses CAF. CAF keeps a variable for each thread,
// which has a destructor. When a thread first uses that variable, the C library registers the
// destructor and allocates a few bytes for it. If it gets none, it ends the process.
#pragma once

namespace penstock::actors {

/// Makes sure that there is memory, and lets the calling thread use that variable and throw.
/// Returns false if there is no memory; the thread then has to leave CAF alone. A thread that has
/// entered before is not refused. Only between the check and the first use could other threads take
/// the memory, which is 32 KiB.
bool try_to_enter_caf() noexcept;

/// Does what try_to_enter_caf() does. @throws std::bad_alloc if there is no memory.
void enter_caf();

/// EntryMemory is address space that is kept back for a thread that cannot be refused when it has
/// to enter. It belongs to no allocator, so that any thread's allocations find it once it is given
/// back, and takes no page of the machine's memory.
class EntryMemory {
 public:
  /// @throws std::bad_alloc
  EntryMemory();
  ~EntryMemory() { give_back(); }
  EntryMemory(const EntryMemory&) = delete;
  EntryMemory& operator=(const EntryMemory&) = delete;

  /// Gives the memory back, and then lets the calling thread enter. Returns false if other threads
  /// have taken the memory and leave none for a second; CAF may end the process then, if the thread
  /// goes on to use it. A thread that has entered before waits for nothing.
  bool enter_caf_with_it() noexcept;

 private:
  void give_back() noexcept;

  void* pages_;  // Is null once they are given back.
};

}  // namespace penstock::actors
