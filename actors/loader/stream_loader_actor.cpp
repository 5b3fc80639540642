#include "actors/loader/stream_loader_actor.hpp"

#include <utility>

#include "actors/system/letter.hpp"

namespace penstock::actors {
namespace {

/// Fills a task's rows and sends the loader what has become of them.
class FillJob : public ReaderJob {
 public:
  explicit FillJob(std::shared_ptr<ReaderMail> mail) : mail_(std::move(mail)) {}

  void set_task(std::shared_ptr<StreamReader> reader, FillTask task) noexcept {
    reader_ = std::move(reader);
    task_ = std::move(task);
  }

  void run() noexcept override {
    // The task is gone, and with it the buffer, before the result leaves.
    answer_.message().result = reader_->fill(std::exchange(task_, {}));
    mail_->post(answer_.take());
  }

 private:
  std::shared_ptr<ReaderMail> mail_;
  std::shared_ptr<StreamReader> reader_;
  FillTask task_;
  Letter<RowsFilled> answer_{RowsFilled()};
};

StreamLoaderActor::behavior_type stream_loader(
    StreamLoaderActor::stateful_pointer<StreamLoaderState> self, const LoaderLinks& links,
    const std::shared_ptr<BatchDesk<StreamCore>>& desk,
    const std::vector<std::shared_ptr<StreamReader>>& readers, bool joins) {
  StreamLoaderState& state = self->state;
  state.links = links;
  state.desk = desk;
  state.readers = readers;
  state.joins = joins;
  return {[self](RowsFilled& message) { self->state.on_rows_filled(message); },
          [self](const Begin&) { self->state.links.port->begin(); },
          [self](const StartEpoch& message) { self->state.on_start_epoch(message); },
          [self](const TakeBatch& message) { self->state.on_take_batch(message); }};
}

}  // namespace

StreamLoaderState::~StreamLoaderState() {
  if (links.port) links.port->end();
}

void StreamLoaderState::on_start_epoch(const StartEpoch& message) noexcept {
  desk->core().start_epoch(message.epoch);
  desk->forget();
  advance(false);
}

void StreamLoaderState::on_take_batch(const TakeBatch& message) noexcept {
  desk->ask(message);
  advance(true);
}

void StreamLoaderState::on_rows_filled(RowsFilled& message) noexcept {
  desk->core().finish(std::move(message.result));
  advance(false);
}

void StreamLoaderState::advance(bool ready) noexcept {
  desk->advance(ready && !joins, [this] { hand_out(); });
}

void StreamLoaderState::hand_out() {
  while (desk->core().has_task()) {
    auto job = std::make_unique<FillJob>(links.mail);
    FillTask task = desk->core().take_task();
    const int number = task.worker;
    job->set_task(readers[static_cast<std::size_t>(number)], std::move(task));
    links.pool->post(number, std::move(job));
  }
}

StreamLoaderActor spawn_stream_loader(ActorSystem& system, const StreamSource& source,
                                      const StreamSettings& settings, const LoaderLinks& links,
                                      std::vector<std::shared_ptr<StreamReader>> readers) {
  auto desk = std::make_shared<BatchDesk<StreamCore>>(StreamCore(source, settings), links.port);
  StreamLoaderActor actor = system.spawn(RunsOn::workers, stream_loader, links, std::move(desk),
                                         std::move(readers), settings.rebatched);
  links.mail->open(caf::actor_cast<caf::strong_actor_ptr>(actor));
  return actor;
}

}  // namespace penstock::actors
