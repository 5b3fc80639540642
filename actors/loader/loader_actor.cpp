#include "actors/loader/loader_actor.hpp"

#include <utility>

#include "actors/system/letter.hpp"

namespace penstock::actors {
namespace {

/// Reads a task's rows and sends the loader what has become of them.
class RowsJob : public ReaderJob {
 public:
  RowsJob(std::shared_ptr<RowReader> reader, std::shared_ptr<ReaderMail> mail)
      : reader_(std::move(reader)), mail_(std::move(mail)) {}

  void set_task(int reader, ReadTask task) noexcept {
    answer_.message().reader = reader;
    task_ = std::move(task);
  }

  void run() noexcept override {
    // The task is gone, and with it the buffer, before the result leaves.
    answer_.message().result = reader_->read(std::exchange(task_, {}));
    mail_->post(answer_.take());
  }

 private:
  std::shared_ptr<RowReader> reader_;
  std::shared_ptr<ReaderMail> mail_;
  ReadTask task_;
  Letter<RowsRead> answer_{RowsRead()};
};

LoaderActor::behavior_type loader(LoaderActor::stateful_pointer<LoaderActorState> self,
                                  const LoaderLinks& links,
                                  const std::shared_ptr<BatchDesk<LoaderCore>>& desk,
                                  const std::vector<std::shared_ptr<RowReader>>& readers) {
  LoaderActorState& state = self->state;
  state.links = links;
  state.desk = desk;
  state.readers = readers;
  for (std::size_t i = 0; i < readers.size(); ++i) state.idle.push_back(static_cast<int>(i));
  return {[self](RowsRead& message) { self->state.on_rows_read(message); },
          [self](const Begin&) { self->state.links.port->begin(); },
          [self](const StartEpoch& message) { self->state.on_start_epoch(message); },
          [self](const TakeBatch& message) { self->state.on_take_batch(message); }};
}

}  // namespace

LoaderActorState::~LoaderActorState() {
  if (links.port) links.port->end();
}

void LoaderActorState::on_start_epoch(const StartEpoch& message) noexcept {
  desk->core().start_epoch(message.epoch, message.plan);
  desk->forget();
  advance(false);
}

void LoaderActorState::on_take_batch(const TakeBatch& message) noexcept {
  desk->ask(message);
  advance(true);
}

void LoaderActorState::on_rows_read(RowsRead& message) noexcept {
  idle.push_back(message.reader);
  desk->core().finish(std::move(message.result));
  advance(false);
}

void LoaderActorState::advance(bool ready) noexcept {
  desk->advance(ready, [this] { hand_out(); });
}

void LoaderActorState::hand_out() {
  while (!idle.empty() && desk->core().has_task()) {
    const int number = idle.back();
    auto job = std::make_unique<RowsJob>(readers[static_cast<std::size_t>(number)], links.mail);
    idle.pop_back();
    job->set_task(number, desk->core().take_task());
    links.pool->post(number, std::move(job));
  }
}

LoaderActor spawn_loader(ActorSystem& system, const LoaderSource& source,
                         const LoaderSettings& settings, const LoaderLinks& links,
                         std::vector<std::shared_ptr<RowReader>> readers) {
  auto desk = std::make_shared<BatchDesk<LoaderCore>>(LoaderCore(source, settings), links.port);
  LoaderActor actor =
      system.spawn(RunsOn::workers, loader, links, std::move(desk), std::move(readers));
  links.mail->open(caf::actor_cast<caf::strong_actor_ptr>(actor));
  return actor;
}

}  // namespace penstock::actors
