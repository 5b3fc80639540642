// A ThreadTeam has the threads of one IPU, which share the work of its kernels. It knows nothing of
// CAF. A device owns it, whose handler is the one caller at a time; its helpers are threads of its
// own, which end with it.
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
  /// Starts `threads` - 1 helpers, which flush denormals and bear `name`; the caller of run() is
  /// the team's last thread. @throws Error out_of_memory if the system does not allow that many.
  ThreadTeam(const std::string& name, std::int32_t threads);
  ~ThreadTeam() override;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  std::int32_t threads() const { return static_cast<std::int32_t>(helpers_.size()) + 1; }

  /// Runs at most 65,535 parts, each of which is taken by the first thread that is free: the caller
  /// waits for helpers that have begun a part, never for one that has not woken up yet. A part that
  /// throws does not keep the others from running; of several exceptions, that of the lowest part
  /// is thrown on. It is not to be called by two threads at a time, nor from a part.
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override;

 private:
  /// Says which part is to be taken next, in one machine word with the number of the call, so that
  /// nobody takes a part of a call that has ended.
  struct Offer {
    std::uint32_t call;
    std::uint16_t parts, taken;
  };

  void help();
  void end();
  /// Takes and runs parts until none is left.
  void take_parts();
  void run_part(std::int32_t part);
  void keep_first_error(std::int32_t part);

  std::atomic<std::uint32_t> calls_{0};  // Helpers sleep until it changes.
  std::atomic<bool> ended_{false};
  std::atomic<Offer> offer_{Offer{}};
  std::atomic<std::uint32_t> finished_{0};  // Counts the parts of this call.
  const std::function<void(std::int32_t)>* work_ = nullptr;
  std::mutex error_mutex_;
  std::int32_t failed_part_ = 0;
  std::exception_ptr error_;
  std::vector<EngineThread> helpers_;
};

}  // namespace penstock::actors
