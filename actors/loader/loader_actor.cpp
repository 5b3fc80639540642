#include "actors/loader/loader_actor.hpp"

#include <cstddef>
#include <utility>

#include "actors/loader/batch_desk.hpp"
#include "actors/system/letter.hpp"

namespace penstock::actors {
namespace {

/// A RowLoading has the rules for readers of samples with numbers: any idle reader does the next
/// task.
class RowLoading {
 public:
  using Core = LoaderCore;
  using Reader = RowReader;
  using Task = ReadTask;
  using Result = ReadResult;
  static constexpr const char* name = "loader";

  RowLoading() = default;
  RowLoading(const LoaderSettings& /*settings*/, std::size_t readers) {
    for (std::size_t i = 0; i < readers; ++i) idle_.push_back(static_cast<int>(i));
  }

  static void start_epoch(Core& core, const StartEpoch& message) noexcept {
    core.start_epoch(message.epoch, message.plan, message.first_batch);
  }
  static Result read(Reader& reader, const Task& task) noexcept { return reader.read(task); }
  /// Returns whether a batch can be complete before the consumer asks for it.
  static bool completes_ahead() noexcept { return true; }
  bool has_reader() const noexcept { return !idle_.empty(); }
  /// Returns the position of the reader that does the task. The reader is busy until
  /// release_reader().
  int take_reader(const Task& /*task*/) noexcept {
    const int reader = idle_.back();
    idle_.pop_back();
    return reader;
  }
  /// Notes that `reader` is idle again. This allocates nothing, because `idle_` has room for all
  /// readers.
  void release_reader(int reader) noexcept { idle_.push_back(reader); }

 private:
  std::vector<int> idle_;  // These are the positions of the idle readers.
};

/// A StreamLoading has the rules for readers of streams: each task names the reader that does it.
class StreamLoading {
 public:
  using Core = StreamCore;
  using Reader = StreamReader;
  using Task = FillTask;
  using Result = FillResult;
  static constexpr const char* name = "stream loader";

  StreamLoading() = default;
  StreamLoading(const StreamSettings& settings, std::size_t /*readers*/)
      : joins_(settings.rebatched) {}

  static void start_epoch(Core& core, const StartEpoch& message) noexcept {
    core.start_epoch(message.epoch);
  }
  static Result read(Reader& reader, const Task& task) noexcept { return reader.fill(task); }
  /// Returns whether a batch can be complete before the consumer asks for it. A batch with rows of
  /// several readers cannot, because it is put together only when the consumer asks.
  bool completes_ahead() const noexcept { return !joins_; }
  static bool has_reader() noexcept { return true; }
  static int take_reader(const Task& task) noexcept { return task.worker; }
  static void release_reader(int /*reader*/) noexcept {}

 private:
  bool joins_ = false;
};

/// A TaskJob does a reader's task and sends the task's result to the loader's actor.
template <class Loading>
class TaskJob : public ReaderJob {
 public:
  explicit TaskJob(std::shared_ptr<ReaderMail> mail) : mail_(std::move(mail)) {}

  void set_task(int number, std::shared_ptr<typename Loading::Reader> reader,
                typename Loading::Task task) noexcept {
    answer_.message().reader = number;
    reader_ = std::move(reader);
    task_ = std::move(task);
  }

  void run() noexcept override {
    // The task is destroyed before the result is sent, so that it no longer keeps the buffer alive.
    answer_.message().result = Loading::read(*reader_, std::exchange(task_, {}));
    mail_->post(answer_.take());
  }

 private:
  using Done = TaskDone<typename Loading::Result>;

  std::shared_ptr<ReaderMail> mail_;
  std::shared_ptr<typename Loading::Reader> reader_;
  typename Loading::Task task_;
  Letter<Done> answer_{Done()};
};

template <class Loading>
using DeskOf = BatchDesk<typename Loading::Core>;
template <class Loading>
using ReadersOf = std::vector<std::shared_ptr<typename Loading::Reader>>;

template <class Loading>
struct LoaderState {
  static constexpr const char* name = Loading::name;

  LoaderLinks links = {};
  std::shared_ptr<DeskOf<Loading>> desk = {};
  ReadersOf<Loading> readers = {};
  Loading loading = {};

  LoaderState() = default;
  LoaderState(const LoaderState&) = delete;
  LoaderState& operator=(const LoaderState&) = delete;
  ~LoaderState() {
    if (links.port) links.port->end();
  }

  void on_start_epoch(const StartEpoch& message) noexcept {
    loading.start_epoch(desk->core(), message);
    desk->forget();
    advance(false);
  }

  void on_take_batch(const TakeBatch& message) noexcept {
    desk->ask(message);
    advance(loading.completes_ahead());
  }

  void on_task_done(TaskDone<typename Loading::Result>& message) noexcept {
    loading.release_reader(message.reader);
    desk->core().finish(std::move(message.result));
    advance(false);
  }

 private:
  void advance(bool ready) noexcept {
    desk->advance(ready, [this] { hand_out(); });
  }

  void hand_out() {
    while (loading.has_reader() && desk->core().has_task()) {
      auto job = std::make_unique<TaskJob<Loading>>(links.mail);
      auto task = desk->core().take_task();
      const int number = loading.take_reader(task);
      job->set_task(number, readers[static_cast<std::size_t>(number)], std::move(task));
      links.pool->post(number, std::move(job));
    }
  }
};

template <class Loading>
using ActorOf = LoaderActorOf<typename Loading::Result>;

template <class Loading>
typename ActorOf<Loading>::behavior_type loader(
    typename ActorOf<Loading>::template stateful_pointer<LoaderState<Loading>> self,
    const LoaderLinks& links, const std::shared_ptr<DeskOf<Loading>>& desk,
    const ReadersOf<Loading>& readers, const Loading& loading) {
  self->state.links = links;
  self->state.desk = desk;
  self->state.readers = readers;
  self->state.loading = loading;
  return {[self](TaskDone<typename Loading::Result>& done) { self->state.on_task_done(done); },
          [self](const Begin&) { self->state.links.port->begin(); },
          [self](const StartEpoch& message) { self->state.on_start_epoch(message); },
          [self](const TakeBatch& message) { self->state.on_take_batch(message); }};
}

template <class Loading>
ActorOf<Loading> spawn(ActorSystem& system, const auto& source, const auto& settings,
                       const LoaderLinks& links, ReadersOf<Loading> readers) {
  auto desk =
      std::make_shared<DeskOf<Loading>>(typename Loading::Core(source, settings), links.port);
  const Loading loading(settings, readers.size());
  ActorOf<Loading> actor = system.spawn(RunsOn::workers, loader<Loading>, links, std::move(desk),
                                        std::move(readers), loading);
  links.mail->open(caf::actor_cast<caf::strong_actor_ptr>(actor));
  return actor;
}

}  // namespace

LoaderActor spawn_loader(ActorSystem& system, const LoaderSource& source,
                         const LoaderSettings& settings, const LoaderLinks& links,
                         std::vector<std::shared_ptr<RowReader>> readers) {
  return spawn<RowLoading>(system, source, settings, links, std::move(readers));
}

StreamLoaderActor spawn_loader(ActorSystem& system, const StreamSource& source,
                               const StreamSettings& settings, const LoaderLinks& links,
                               std::vector<std::shared_ptr<StreamReader>> readers) {
  return spawn<StreamLoading>(system, source, settings, links, std::move(readers));
}

}  // namespace penstock::actors
