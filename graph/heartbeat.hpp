// Heartbeat: signs of life of whoever runs programs, and which instruction it is in. The one that
// runs them writes, which costs a store or two; any thread reads, and tells by a number that has
// stood still that nothing moves.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::graph {

struct Instruction;

class Heartbeat {
 public:
  /// An instruction begins; null: other work does. For the thread that runs the program.
  void begin(const Instruction* instruction) noexcept {
    instruction_.store(instruction, std::memory_order_relaxed);
    beat();
  }
  /// Some work is done. For the same thread, while nobody shares its work.
  void beat() noexcept {
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  /// A piece of the instruction is done. For any thread that shares its work.
  void beat_of_piece() noexcept { beats_.fetch_add(1, std::memory_order_release); }

  /// Another number whenever something has been done.
  std::uint64_t beats() const noexcept { return beats_.load(std::memory_order_acquire); }
  /// What runs, or ran last. Its plan outlives the heartbeat.
  const Instruction* instruction() const noexcept {
    return instruction_.load(std::memory_order_acquire);
  }

 private:
  // A cache line of its own: no two IPUs write to the same.
  alignas(64) std::atomic<std::uint64_t> beats_{0};
  std::atomic<const Instruction*> instruction_{nullptr};
};

}  // namespace penstock::graph
