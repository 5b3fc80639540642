#include "actors/loader/loader_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "actors/loader/load_failure.hpp"
#include "actors/loader/loader_actor.hpp"
#include "actors/loader/reader_threads.hpp"
#include "actors/system/actor_system.hpp"
#include "actors/system/letter.hpp"
#include "actors/system/owning_process.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {
namespace {

std::string seconds_text(std::chrono::nanoseconds time) {
  const CanonicalFloats floats;
  return number_text(std::chrono::duration<double>(time).count()) + " s";
}

template <class Reader, class Source>
std::vector<std::shared_ptr<Reader>> make_readers(int count, const Source& source,
                                                  const std::shared_ptr<LoaderWatch>& watch) {
  std::vector<std::shared_ptr<Reader>> readers;
  for (int number = 0; number < count; ++number)
    readers.push_back(std::make_shared<Reader>(number, source, watch));
  return readers;
}

}  // namespace

class LoaderRuntime::Impl {
 public:
  Impl(LoaderSource source, const LoaderSettings& settings, const LoaderLimits& limits)
      : Impl(std::max(1, settings.workers), limits) {
    const auto shared = std::make_shared<const LoaderSource>(std::move(source));
    auto readers = make_readers<RowReader>(readers_, shared, watch_);
    start_threads(shared, {readers.begin(), readers.end()});
    spawn_loader(*system_, *shared, settings, links(), std::move(readers));
    await_begin();
  }

  Impl(StreamSource source, const StreamSettings& settings, const LoaderLimits& limits)
      : Impl(settings.workers, limits) {
    const auto shared = std::make_shared<const StreamSource>(std::move(source));
    auto readers = make_readers<StreamReader>(readers_, shared, watch_);
    start_threads(shared, {readers.begin(), readers.end()});
    spawn_loader(*system_, *shared, settings, links(), std::move(readers));
    await_begin();
  }

  ~Impl() { end(); }

  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan,
                   std::int64_t first_batch) {
    expect_open();
    std::stop_source stop;
    Letter<StartEpoch> letter(StartEpoch{epoch, std::move(plan), first_batch});
    // The watch learns of the new epoch before the loader's actor does, so that reads for the last
    // epoch are asked to stop at once.
    watch_->begin_epoch(epoch, std::move(stop));
    // A callback of the host's at a stop token may have forked the process.
    expect_open();
    mail_->post(letter.take());
  }

  LoadedBatch take(std::int64_t batch, const std::stop_token& stop) {
    expect_open();
    if (stop.stop_requested()) cancelled(batch);
    const std::int64_t asked_ns = steady_ns();
    Letter<TakeBatch> letter(TakeBatch{.batch = batch});
    letter.message().number = port_->open();
    mail_->post(letter.take());
    std::optional<LoadedBatch> taken = port_->wait(limits_.batch, stop);
    if (!taken || !taken->ready) count_wait(asked_ns);
    if (!taken && stop.stop_requested()) cancelled(batch);
    if (!taken) stalled();
    if (taken->failure) fail(*taken->failure);
    return std::move(*taken);
  }

  std::chrono::nanoseconds waited() const noexcept {
    return std::chrono::nanoseconds(waited_.load(std::memory_order_relaxed));
  }

  std::vector<HostEvent> take_trace() {
    return watch_->trace() ? watch_->trace()->take().take() : std::vector<HostEvent>();
  }

  LoaderRemains close() noexcept {
    end();
    LoaderRemains remains;
    if (!process_.is_current()) return remains;
    for (int reader = 0; reader < readers_; ++reader)
      if (threads_->left_behind(reader)) ++remains.threads;
    if (remains.threads > 0) describe(remains);
    return remains;
  }

  bool in_its_process() const noexcept { return process_.is_current(); }

 private:
  Impl(int readers, const LoaderLimits& limits)
      : limits_(limits),
        readers_(readers),
        watch_(std::make_shared<LoaderWatch>(readers, limits.trace_events)),
        port_(std::make_shared<BatchPort>()),
        mail_(std::make_shared<ReaderMail>()) {}

  LoaderLinks links() { return {port_, mail_, &*threads_}; }

  void start_threads(std::shared_ptr<const void> source,
                     std::vector<std::shared_ptr<Reader>> readers) {
    source_ = std::move(source);
    threads_.emplace(std::move(readers));
    system_.emplace(SystemOptions{.threads = 1});
  }

  // Waits until the actor has begun, because an actor allocates some of its memory only then.
  void await_begin() {
    mail_->post(Letter<Begin>(Begin()).take());
    port_->await_begin();
  }

  void expect_open() const {
    process_.expect_current("data loader: it");
    if (closed_) throw Error(Errc::closed, "data loader: it was closed; make a new one");
  }

  /// Counts a wait that began at `begin_ns` and ends now.
  void count_wait(std::int64_t begin_ns) noexcept {
    waited_.fetch_add(steady_ns() - begin_ns, std::memory_order_relaxed);
    if (HostTrace* const trace = watch_->trace())
      trace->record({.actor = HostActor::loader, .begin_ns = begin_ns});
  }

  [[noreturn]] void stalled() const {
    throw Error(Errc::stalled, "data loader: no batch for " + seconds_text(limits_.batch) + ": " +
                                   watch_->describe());
  }

  [[noreturn]] void cancelled(std::int64_t batch) const {
    throw Error(Errc::cancelled, "data loader: the wait for batch " + std::to_string(batch) +
                                     " of the epoch was cancelled; the next call waits for it "
                                     "again");
  }

  [[noreturn]] static void fail(const LoadFailure& failure) {
    if (failure.text.empty()) throw_out_of_memory("DataLoader::next");
    const bool is_whole = failure.text.starts_with("data loader: ");
    throw Error(failure.code, (is_whole ? "" : "data loader: ") + failure.text);
  }

  /// Ends everything except those threads that are still in the dataset's code after
  /// LoaderLimits::end.
  void end() noexcept {
    if (std::exchange(closed_, true)) return;
    watch_->end();
    // A callback of the host's at a stop token may have forked the process. The child has no
    // threads that could end.
    if (!process_.is_current()) return;
    if (threads_) threads_->close(limits_.end);
    mail_->close();
    // The loader's actor is the only one in the system, and the system's destructor tells it to
    // end. That takes no time, because the actor's handlers never block.
    system_.reset();
    source_.reset();
  }

  void describe(LoaderRemains& remains) const noexcept try {
    std::string text = "data loader: ";
    for (int reader = 0, named = 0; reader < readers_; ++reader)
      if (threads_->left_behind(reader))
        text += (named++ ? ", " : "") + watch_->describe(reader, "has not ended");
    text += " within " + seconds_text(limits_.end) + " of being asked to stop; ";
    remains.text = text + (remains.threads == 1 ? "its thread is" : "their threads are") +
                   " left behind until the dataset returns";
  } catch (const std::exception&) {
    remains.text = "thread left";  // This text is so short that the string allocates no memory.
  }

  const OwningProcess process_;
  const LoaderLimits limits_;
  const int readers_;
  bool closed_ = false;
  std::atomic<std::int64_t> waited_{0};  // This counts nanoseconds.
  const std::shared_ptr<LoaderWatch> watch_;
  const std::shared_ptr<BatchPort> port_;
  const std::shared_ptr<ReaderMail> mail_;
  std::shared_ptr<const void> source_;  // The host's thread is the last to release the source.
  std::optional<ReaderThreads> threads_;
  std::optional<ActorSystem> system_;
};

LoaderRuntime::LoaderRuntime(LoaderSource source, const LoaderSettings& settings,
                             const LoaderLimits& limits)
    : impl_(std::make_unique<Impl>(std::move(source), settings, limits)) {}

LoaderRuntime::LoaderRuntime(StreamSource source, const StreamSettings& settings,
                             const LoaderLimits& limits)
    : impl_(std::make_unique<Impl>(std::move(source), settings, limits)) {}

LoaderRuntime::~LoaderRuntime() {
  // In a forked process, the object is not destroyed, because the threads of the parent process may
  // have been using it at the time of the fork.
  if (!impl_->in_its_process()) static_cast<void>(impl_.release());
}

void LoaderRuntime::start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan,
                                std::int64_t first_batch) {
  impl_->start_epoch(epoch, std::move(plan), first_batch);
}

LoadedBatch LoaderRuntime::take(std::int64_t batch, const std::stop_token& stop) {
  return impl_->take(batch, stop);
}

std::chrono::nanoseconds LoaderRuntime::waited() const noexcept {
  return impl_->waited();
}

std::vector<HostEvent> LoaderRuntime::take_trace() {
  return impl_->take_trace();
}

LoaderRemains LoaderRuntime::close() noexcept {
  return impl_->in_its_process() ? impl_->close() : LoaderRemains();
}

}  // namespace penstock::actors
