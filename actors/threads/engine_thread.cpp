#include "actors/threads/engine_thread.hpp"

#include <signal.h>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "actors/threads/allowed_cpus.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/thread_variables.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

constexpr std::size_t stack_bytes = std::size_t{8} << 20;

enum class Preparation { under_way, done, out_of_memory };

/// A Start is what a new thread begins with. It is shared with the thread that starts the new one,
/// because either of them may be the last to look at `preparation`.
struct Start {
  std::string name;
  std::function<void()> body;
  AllowedCpus cpus;
  std::atomic<Preparation> preparation = Preparation::under_way;

  void end_preparation(Preparation result) noexcept {
    preparation.store(result);
    preparation.notify_one();
  }
};

void name_this_thread(const std::string& name) noexcept {
#if defined(__linux__)
  char taken[16] = {};  // Linux allows this many bytes for a name, including the zero at the end.
  name.copy(taken, sizeof(taken) - 1);
  pthread_setname_np(pthread_self(), taken);
#else
  static_cast<void>(name);
#endif
}

void* run(void* argument) {
  const std::unique_ptr<std::shared_ptr<Start>> owner(
      static_cast<std::shared_ptr<Start>*>(argument));
  Start& start = **owner;
  name_this_thread(start.name);
  start.cpus.use();
  const CanonicalFloats floats;
  // The body belongs to this thread alone from here on, so that it is also destroyed here.
  const std::function<void()> body = std::move(start.body);
  if (!prepare_to_throw()) {
    start.end_preparation(Preparation::out_of_memory);
    return nullptr;
  }
  start.end_preparation(Preparation::done);
  body();
  return nullptr;
}

/// A thread's own instructions cause these signals: a read behind the end of a mapped file that has
/// become shorter causes SIGBUS, for example. If an instruction causes such a signal while it is
/// blocked, the kernel ends the process without calling the host's handler, which may know what to
/// do.
constexpr int of_instructions[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

/// While a BlockedSignals lives, all signals but those of a thread's own instructions are blocked
/// in the thread that made it, and in threads that this thread starts.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int signal : of_instructions) sigdelset(&blocked, signal);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Attributes are the attributes of a new thread, which thus does not get the process's default
/// attributes.
class Attributes {
 public:
  Attributes() noexcept {
    pthread_attr_init(&attributes_);
    pthread_attr_setstacksize(&attributes_, stack_bytes);
  }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  const pthread_attr_t* get() const noexcept { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

EngineThread::EngineThread(const std::string& name, std::function<void()> body) {
  // pthread_create() allocates the variables that libraries keep for the new thread. If there is no
  // memory for these variables, the C library ends the process.
  if (!has_memory_for_thread_variables()) throw std::bad_alloc();
  // The CPUs are found here, because the new thread must not read the environment, which the host
  // may change as soon as its call has ended.
  const std::shared_ptr<Start> start(new Start{name, std::move(body), AllowedCpus::now()});
  auto owner = std::make_unique<std::shared_ptr<Start>>(start);
  const Attributes attributes;
  const BlockedSignals blocked;
  if (pthread_create(&thread_, attributes.get(), run, owner.get()) != 0)
    throw Error(Errc::out_of_memory,
                name + ": cannot start another thread: the system does not allow it");
  owner.release();
  start->preparation.wait(Preparation::under_way);
  if (start->preparation.load() == Preparation::out_of_memory) {
    pthread_join(thread_, nullptr);
    throw std::bad_alloc();
  }
  joinable_ = true;
}

EngineThread::EngineThread(EngineThread&& other) noexcept
    : thread_(other.thread_), joinable_(std::exchange(other.joinable_, false)) {}

void EngineThread::detach() noexcept {
  if (std::exchange(joinable_, false)) pthread_detach(thread_);
}

EngineThread::~EngineThread() {
  if (joinable_) pthread_join(thread_, nullptr);
}

}  // namespace penstock::actors
