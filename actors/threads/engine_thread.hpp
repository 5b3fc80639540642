// The engine starts every thread as an EngineThread. A new thread inherits settings of the thread
// that starts it, and thus the host's settings. An EngineThread instead begins with settings of its
// own, except for the scheduling policy and the priority. This class does not use CAF.
#pragma once

#include <pthread.h>

#include <functional>
#include <string>

namespace penstock::actors {

/// An EngineThread is a thread that the constructor starts, and that the destructor joins unless it
/// has been detached.
class EngineThread {
 public:
  /// Starts a thread that calls `body`, which throws nothing, and returns once the thread is
  /// prepared to throw: from then on, until the host loads further libraries, it can throw without
  /// memory of the C library. The thread bears the first 15 characters of `name`. From its first
  /// instruction on, all signals are blocked, so that those sent to the process go to the host's
  /// threads, except the signals that a thread's own instructions cause, such as SIGSEGV and
  /// SIGBUS: handlers of the host's get these. When it calls `body`, it has the default
  /// floating-point environment, and it may use every CPU that AllowedCpus::now() returns on the
  /// thread that starts it. The new thread reads nothing of the process's environment. Its stack
  /// has 8 MiB whatever the host's default is. It has the scheduling policy and the priority of the
  /// thread that starts it.
  /// @throws Error out_of_memory if the system does not allow another thread.
  /// @throws std::bad_alloc if there is no memory, in particular if the 32 KiB are missing that the
  /// C library may need to start a thread, or those that it may need to prepare it. Other threads
  /// may still take the 32 KiB after either check.
  EngineThread(const std::string& name, std::function<void()> body);
  EngineThread(EngineThread&& other) noexcept;
  EngineThread& operator=(EngineThread&&) = delete;
  /// Waits for the end of `body`, unless the thread has been detached.
  ~EngineThread();

  /// Gives the thread up: the destructor no longer waits for the end of `body`.
  void detach() noexcept;

 private:
  pthread_t thread_ = {};
  // If this is true, the thread was started, and was neither detached nor moved to another object.
  bool joinable_ = false;
};

}  // namespace penstock::actors
