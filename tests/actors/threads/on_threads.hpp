#pragma once

#include <thread>

#include "actors/threads/engine_thread.hpp"

namespace penstock::actors {

/// Runs `body` on a thread of the engine.
template <class Body>
void on_engine_thread(Body body) {
  const EngineThread thread("engine", body);
}

/// Runs `body` on a thread of the host. `body` may change that thread's settings.
template <class Body>
void on_host_thread(Body body) {
  std::thread(body).join();
}

}  // namespace penstock::actors
