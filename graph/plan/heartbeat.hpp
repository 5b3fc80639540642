// A Heartbeat counts the signs of life of a thread that runs programs, and knows which instruction
// the thread is in. The thread writes its heartbeat, at the cost of a store or two, and so do the
// threads that share its work. Any thread reads the heartbeat: if the count has not changed,
// nothing moves.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::graph {

struct Instruction;

class Heartbeat {
 public:
  /// Notes that an instruction begins, or other work if `instruction` is null. Only the thread that
  /// runs a program calls begin().
  void begin(const Instruction* instruction) noexcept {
    instruction_.store(instruction, std::memory_order_relaxed);
    beat();
  }
  /// Notes that some work is done. The thread that runs a program calls beat() while no other
  /// thread shares the work.
  void beat() noexcept {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  /// Notes that a piece of the instruction is done. Any thread that shares the work may call this
  /// function.
  void beat_of_piece() noexcept { beats_.fetch_add(1, std::memory_order_release); }

  /// Returns the count of signs of life, which changes whenever something has been done.
  std::uint64_t beats() const noexcept { return beats_.load(std::memory_order_acquire); }
  /// Returns the instruction that runs, or that ran last. The plan of the instruction outlives the
  /// heartbeat.
  const Instruction* instruction() const noexcept {
    return instruction_.load(std::memory_order_acquire);
  }

 private:
  // The fields have a cache line to themselves, so that no two IPUs write to the same line.
  alignas(64) std::atomic<std::uint64_t> beats_{0};
  std::atomic<const Instruction*> instruction_{nullptr};
};

}  // namespace penstock::graph
