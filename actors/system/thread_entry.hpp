// A thread calls one of these functions before it uses CAF. CAF keeps a variable for each thread,
// which has a destructor. When a thread first uses that variable, the C library registers the
// destructor and allocates a few bytes for it. If there is no memory, the C library ends the
// process.
#pragma once

namespace penstock::actors {

/// Makes sure that there is memory for CAF's variable, and lets the calling thread use CAF and
/// throw. Returns false if there is no memory; the thread must then not use CAF. A thread that has
/// entered before is not refused. The function looks for 32 KiB before it uses the variable, and
/// other threads could take them only in between.
bool try_to_enter_caf() noexcept;

/// Does what try_to_enter_caf() does. @throws std::bad_alloc if there is no memory.
void enter_caf();

/// EntryMemory is address space that is kept back for a thread that has to enter and cannot be
/// refused, such as one that runs a destructor. It belongs to no allocator, so that any thread's
/// allocations find it once it is given back, and it takes no page of the machine's memory.
class EntryMemory {
 public:
  /// @throws std::bad_alloc
  EntryMemory();
  ~EntryMemory() { give_back(); }
  EntryMemory(const EntryMemory&) = delete;
  EntryMemory& operator=(const EntryMemory&) = delete;

  /// Gives the memory back, and then lets the calling thread enter. Returns false if other threads
  /// have taken the memory and a second of attempts finds none; if the thread uses CAF
  /// nevertheless, CAF may end the process. A thread that has entered before does not wait.
  bool enter_caf_with_it() noexcept;

 private:
  void give_back() noexcept;

  void* pages_;  // Is null once the pages are given back.
};

}  // namespace penstock::actors
