#include "actors/loader/loader_actor.hpp"

#include <algorithm>

#include "actors/loader/loader_worker_actor.hpp"
#include "actors/system/base_init.hpp"

namespace penstock::actors {
namespace {

LoaderActor::behavior_type loader(LoaderActor::stateful_pointer<LoaderActorState> self,
                                  const std::shared_ptr<const LoaderSource>& source,
                                  const LoaderSettings& settings,
                                  const std::vector<LoaderWorker>& workers) {
  base_init(self);
  self->state.self = self;
  self->state.core.emplace(*source, settings);
  self->state.workers = workers;
  for (const LoaderWorker& worker : workers) {
    self->state.idle.push_back(static_cast<int>(self->state.idle.size()));
    self->link_to(worker);
  }
  return {[self](const RowsRead& message) { self->state.on_rows_read(message); },
          [self](const StartEpoch& message) { self->state.on_start_epoch(message); },
          [self](const TakeBatch& message) { return self->state.on_take_batch(message); }};
}

}  // namespace

void LoaderActorState::on_start_epoch(const StartEpoch& message) {
  core->start_epoch(message.epoch, message.plan);
  consumer = {};
  advance(false);
}

caf::typed_response_promise<LoadedBatch> LoaderActorState::on_take_batch(const TakeBatch& message) {
  consumer = self->make_response_promise<LoadedBatch>();
  const auto answer = consumer;
  or_deliver_failure(consumer, [&] {
    core->ask(message.batch);
    advance(true);
  });
  return answer;
}

void LoaderActorState::on_rows_read(const RowsRead& read) {
  idle.push_back(read.worker);
  core->finish(read.result);
  advance(false);
}

// Twice: a batch that leaves makes room for others, and one for which there is no memory is its own
// answer at once.
void LoaderActorState::advance(bool asked) {
  deliver(asked);
  send_tasks();
  deliver(asked);
}

void LoaderActorState::deliver(bool asked) {
  if (!consumer.pending()) return;
  auto batch = core->asked_batch();
  if (!batch) return;
  batch->ready = asked;
  deliver_batch(consumer, std::move(*batch));
  consumer = {};
}

void LoaderActorState::send_tasks() {
  while (!idle.empty()) {
    auto task = core->next_task();
    if (!task) return;
    self->send(workers[static_cast<std::size_t>(idle.back())], ReadRows{self, std::move(*task)});
    idle.pop_back();
  }
}

LoaderActor spawn_loader(ActorSystem& system, std::shared_ptr<const LoaderSource> source,
                         const LoaderSettings& settings, std::shared_ptr<LoaderWatch> watch) {
  const RunsOn where = settings.workers > 0 ? RunsOn::own_thread : RunsOn::workers;
  std::vector<LoaderWorker> workers;
  for (int number = 0; number < std::max(1, settings.workers); ++number)
    workers.push_back(system.spawn(where, loader_worker, number, source, watch));
  return system.spawn(RunsOn::workers, loader, std::move(source), settings, std::move(workers));
}

}  // namespace penstock::actors
