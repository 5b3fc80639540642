#include "actors/loader/stream_loader_actor.hpp"

#include "actors/loader/stream_worker_actor.hpp"
#include "actors/system/base_init.hpp"

namespace penstock::actors {
namespace {

StreamLoaderActor::behavior_type stream_loader(
    StreamLoaderActor::stateful_pointer<StreamLoaderState> self,
    const std::shared_ptr<const StreamSource>& source, const StreamSettings& settings,
    const std::vector<StreamWorker>& workers) {
  base_init(self);
  self->state.self = self;
  self->state.core.emplace(*source, settings);
  self->state.workers = workers;
  self->state.joins = settings.rebatched;
  for (const StreamWorker& worker : workers) self->link_to(worker);
  return {[self](const RowsFilled& message) { self->state.on_rows_filled(message); },
          [self](const StartEpoch& message) { self->state.on_start_epoch(message); },
          [self](const TakeBatch& message) { return self->state.on_take_batch(message); }};
}

}  // namespace

void StreamLoaderState::on_start_epoch(const StartEpoch& message) {
  core->start_epoch(message.epoch);
  consumer = {};
  advance(false);
}

caf::typed_response_promise<LoadedBatch> StreamLoaderState::on_take_batch(
    const TakeBatch& message) {
  consumer = self->make_response_promise<LoadedBatch>();
  const auto answer = consumer;
  or_deliver_failure(consumer, [&] {
    core->ask(message.batch);
    advance(true);
  });
  return answer;
}

void StreamLoaderState::on_rows_filled(const RowsFilled& message) {
  core->finish(message.result);
  advance(false);
}

void StreamLoaderState::advance(bool asked) {
  // Twice: chunks that go into a batch make room for others.
  send_tasks();
  if (consumer.pending())
    if (auto batch = core->asked_batch()) {
      batch->ready = asked && !joins;
      deliver_batch(consumer, std::move(*batch));
      consumer = {};
    }
  send_tasks();
}

void StreamLoaderState::send_tasks() {
  while (auto task = core->next_task()) {
    const auto worker = static_cast<std::size_t>(task->worker);
    self->send(workers[worker], FillRows{self, std::move(*task)});
  }
}

StreamLoaderActor spawn_stream_loader(ActorSystem& system,
                                      std::shared_ptr<const StreamSource> source,
                                      const StreamSettings& settings, RunsOn where,
                                      std::shared_ptr<LoaderWatch> watch) {
  std::vector<StreamWorker> workers;
  for (int number = 0; number < settings.workers; ++number)
    workers.push_back(system.spawn(where, stream_worker, number, source, watch));
  return system.spawn(RunsOn::workers, stream_loader, std::move(source), settings,
                      std::move(workers));
}

}  // namespace penstock::actors
