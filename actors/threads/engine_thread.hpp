// EngineThread: the one way in which the engine starts a thread. A new thread inherits much from
// the one that starts it, which is the host's: here, it begins in the same environment whatever the
// host has set. Knows nothing of CAF.
#pragma once

#include <pthread.h>

#include <functional>
#include <string>

namespace penstock::actors {

/// Started by its constructor and joined by its destructor, unless it has been detached.
class EngineThread {
 public:
  /// Starts a thread that calls `body`, which throws nothing, and bears the first 15 characters of
  /// `name`. From its first instruction on, all signals are blocked, so that those sent to the
  /// process go to the host's threads. Before `body` it has the default floating-point environment
  /// and every CPU that the process may use (see allowed_cpus.hpp). Its stack has 8 MiB whatever
  /// the host's default is. Scheduling policy and priority are those of the thread that starts it.
  /// @throws Error out_of_memory if the system does not allow another thread.
  EngineThread(const std::string& name, std::function<void()> body);
  EngineThread(EngineThread&& other) noexcept;
  EngineThread& operator=(EngineThread&&) = delete;
  /// Waits for the end of `body`.
  ~EngineThread();

  /// Nobody waits for the end of `body` any more.
  void detach() noexcept;

 private:
  pthread_t thread_ = {};
  bool joinable_ = false;  // started, and neither detached nor moved to another object
};

}  // namespace penstock::actors
