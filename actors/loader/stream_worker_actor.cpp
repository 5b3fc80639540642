#include "actors/loader/stream_worker_actor.hpp"

#include <exception>
#include <utility>

#include "actors/system/base_init.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

void StreamWorkerState::on_fill_rows(FillRows& message) {
  // The task is gone, and with it the buffer, before the result leaves.
  const FillResult result = fill(std::exchange(message.task, {}));
  self->send(message.reader, RowsFilled{result});
}

FillResult StreamWorkerState::fill(const FillTask& task) {
  FillResult result{task.epoch, task.chunk, 0, {}};
  if (watch->wanted(task.epoch)) watch->begin_read(number, samples);
  try {
    fill_rows(task, result);
  } catch (...) {
    stream = {};
    result.failure = {"data loader: reading sample " + std::to_string(samples) + " of worker " +
                      std::to_string(number) +
                      "'s share failed: " + text_of(std::current_exception())};
  }
  watch->end_read(number);
  return result;
}

void StreamWorkerState::fill_rows(const FillTask& task, FillResult& result) {
  if (epoch != task.epoch && watch->wanted(task.epoch)) open(task.epoch);
  while (stream && result.filled < task.rows && watch->wanted(task.epoch)) {
    point_to_row(source->fields, *task.buffer, result.filled, destinations);
    watch->begin_read(number, samples);
    if (!stream(destinations, {})) {
      stream = {};
      return;
    }
    ++samples;
    ++result.filled;
  }
}

void StreamWorkerState::open(std::uint64_t wanted) {
  stream = {};
  epoch = wanted;
  samples = 0;
  stream = source->open(number, wanted, {});
}

StreamWorker::behavior_type stream_worker(StreamWorker::stateful_pointer<StreamWorkerState> self,
                                          int number, std::shared_ptr<const StreamSource> source,
                                          std::shared_ptr<LoaderWatch> watch) {
  base_init(self);
  self->state.self = self;
  self->state.number = number;
  self->state.source = std::move(source);
  self->state.watch = std::move(watch);
  return {[self](FillRows& message) { self->state.on_fill_rows(message); }};
}

}  // namespace penstock::actors
