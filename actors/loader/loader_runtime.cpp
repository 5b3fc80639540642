#include "actors/loader/loader_runtime.hpp"

#include <caf/scoped_actor.hpp>

#include "actors/loader/loader_actor.hpp"
#include "actors/loader/stream_loader_actor.hpp"
#include "actors/system/actor_system.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {
namespace {

std::string seconds_text(std::chrono::nanoseconds time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

class LoaderRuntime::Impl {
 public:
  Impl(LoaderSource source, const LoaderSettings& settings, std::chrono::nanoseconds timeout)
      : timeout_(timeout),
        watch_(std::make_shared<LoaderWatch>(std::max(1, settings.workers))),
        system_({.threads = 1}),
        loader_(spawn_loader(system_, std::make_shared<const LoaderSource>(std::move(source)),
                             settings, watch_)) {}

  Impl(StreamSource source, const StreamSettings& settings, bool threads,
       std::chrono::nanoseconds timeout)
      : timeout_(timeout),
        watch_(std::make_shared<LoaderWatch>(settings.workers)),
        system_({.threads = 1}),
        loader_(spawn_stream_loader(
            system_, std::make_shared<const StreamSource>(std::move(source)), settings,
            threads ? RunsOn::own_thread : RunsOn::workers, watch_)) {}

  ~Impl() {
    watch_->abandon_all();
    caf::anon_send_exit(loader_, caf::exit_reason::user_shutdown);
  }

  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan) {
    // At once, not when the loader gets to its mail: a worker may run on the loader's thread.
    watch_->abandon_before(epoch);
    caf::anon_send(loader_, StartEpoch{epoch, std::move(plan)});
  }

  LoadedBatch take(std::int64_t batch) {
    const HostThreadGuard guard;
    // An asker of its own per batch: what comes too late is dropped with it.
    caf::scoped_actor asker{system_.caf()};
    LoadedBatch batch_taken;
    caf::error failure;
    const auto asked = std::chrono::steady_clock::now();
    asker->request(loader_, timeout_, TakeBatch{batch})
        .receive([&](LoadedBatch& loaded) { batch_taken = std::move(loaded); },
                 [&](caf::error& error) { failure = std::move(error); });
    if (!batch_taken.ready) waited_ += std::chrono::steady_clock::now() - asked;
    if (failure) fail(to_error(failure));
    return batch_taken;
  }

  std::chrono::nanoseconds waited() const noexcept { return waited_; }

 private:
  [[noreturn]] void fail(const Error& error) const {
    if (error.code() == Errc::stalled)
      throw Error(Errc::stalled, "data loader: no batch for " + seconds_text(timeout_) + ": " +
                                     watch_->describe());
    if (error.code() == Errc::invalid_data || error.code() == Errc::out_of_memory) throw error;
    throw Error(error.code(), std::string("data loader: ") + error.what());
  }

  std::chrono::nanoseconds timeout_;
  std::chrono::nanoseconds waited_{0};
  std::shared_ptr<LoaderWatch> watch_;
  ActorSystem system_;  // ends after the loader, which is told to in the destructor
  Loader loader_;
};

LoaderRuntime::LoaderRuntime(LoaderSource source, const LoaderSettings& settings,
                             std::chrono::nanoseconds timeout)
    : impl_(std::make_unique<Impl>(std::move(source), settings, timeout)) {}

LoaderRuntime::LoaderRuntime(StreamSource source, const StreamSettings& settings, bool threads,
                             std::chrono::nanoseconds timeout)
    : impl_(std::make_unique<Impl>(std::move(source), settings, threads, timeout)) {}

LoaderRuntime::~LoaderRuntime() = default;

void LoaderRuntime::start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan) {
  impl_->start_epoch(epoch, std::move(plan));
}

LoadedBatch LoaderRuntime::take(std::int64_t batch) {
  return impl_->take(batch);
}

std::chrono::nanoseconds LoaderRuntime::waited() const noexcept {
  return impl_->waited();
}

}  // namespace penstock::actors
