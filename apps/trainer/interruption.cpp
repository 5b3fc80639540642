#include "apps/trainer/interruption.hpp"

#include <pthread.h>
#include <unistd.h>

namespace trainer {
namespace {

constexpr int handled[] = {SIGINT, SIGTERM};

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interruption::Interruption() {
  sigemptyset(&signals_);
  for (const int signal : handled) {
    if (is_ignored(signal)) continue;
    sigaddset(&signals_, signal);
    wakes_ = signal;
  }
  if (wakes_ == 0) return;
  pthread_sigmask(SIG_BLOCK, &signals_, &blocked_before_);
  try {
    thread_ = std::thread([this] { wait_for_signals(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
    throw;
  }
}

// A signal that is sent to the thread alone wakes it. One that comes from elsewhere at that very
// moment may be taken for it, and is lost.
Interruption::~Interruption() {
  if (wakes_ == 0) return;
  over_ = true;
  pthread_kill(thread_.native_handle(), wakes_);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

void Interruption::wait_for_signals() {
  for (int signal = 0;;) {
    if (sigwait(&signals_, &signal) != 0) continue;
    if (over_) return;
    if (signal_ != 0) end_process_by(signal);
    signal_ = signal;
    stop_.request_stop();
  }
}

void end_process_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  // The first process of a container outlives a signal of its own; shells give others this code.
  ::_exit(128 + signal);
}

}  // namespace trainer
