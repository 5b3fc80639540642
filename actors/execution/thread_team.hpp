// A ThreadTeam is the threads of one IPU, which share the work of the IPU's kernels. It does not
// use CAF. The IPU's actor uses the team, from one handler at a time. All threads but the caller of
// run() are helpers. They belong to the team and end with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "actors/threads/engine_thread.hpp"
#include "graph/plan/program.hpp"

namespace penstock::actors {

class ThreadTeam : public graph::PartRunner {
 public:
  /// Starts `threads` - 1 helpers, which flush denormals and have the name `name`. The caller of
  /// run() is the team's last thread.
  /// @throws Error out_of_memory if the operating system does not allow so many threads.
  ThreadTeam(const std::string& name, std::int32_t threads);
  ~ThreadTeam() override;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::int32_t threads() const { return static_cast<std::int32_t>(helpers_.size()) + 1; }

  /// Calls `work` once with each number from 0 to `parts` - 1; at most 65,535 parts are allowed.
  /// The caller takes the parts from the first one on and helpers take them from the last one on.
  /// So in a team of two, each thread mostly has the same part in each step, and finds the weights
  /// that the part needs in its core's cache. The caller waits for helpers that have begun a part,
  /// but never for a helper that has not woken up yet. If a part throws, the other parts still run.
  /// If several parts throw, run() throws the exception of the part with the lowest number. Two
  /// threads must not call run() at the same time, and a part must not call it.
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override;

 private:
  /// An Offer has the parts that nobody has taken yet, from `first` to `end` - 1. The number of the
  /// call is in the same machine word, so that no thread takes a part of a call that has ended.
  /// Clang needs the alignment of a whole word to read it without a library.
  struct alignas(std::uint64_t) Offer {
    std::uint32_t call;
    std::uint16_t first, end;
  };
  enum class Side { first, last };

  void help();
  void end();
  /// Takes and runs parts from one side until none is left.
  void take_parts(Side side);
  void run_part(std::int32_t part);
  void keep_first_error(std::int32_t part);

  // This counts calls of run() and end(). Helpers sleep until it changes.
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> ended_{false};
  std::atomic<Offer> offer_{Offer{}};
  std::atomic<std::uint32_t> finished_{0};  // This many parts of the call have been run.
  const std::function<void(std::int32_t)>* work_ = nullptr;
  std::mutex error_mutex_;
  std::int32_t failed_part_ = 0;
  std::exception_ptr error_;
  std::vector<EngineThread> helpers_;
};

}  // namespace penstock::actors
