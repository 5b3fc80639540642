#include "actors/loader/loader_worker_actor.hpp"

#include <exception>
#include <utility>

#include "actors/system/base_init.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

void LoaderWorkerState::on_read_rows(ReadRows& message) {
  // The task is gone, and with it the buffer, before the result leaves.
  const ReadResult result = read(std::exchange(message.task, {}));
  self->send(message.reader, RowsRead{number, result});
}

ReadResult LoaderWorkerState::read(const ReadTask& task) {
  return {task.epoch, task.batch, read_rows(task)};
}

std::optional<ReadFailure> LoaderWorkerState::read_rows(const ReadTask& task) {
  for (std::int64_t row = task.rows.begin; row < task.rows.end && watch->wanted(task.epoch); ++row)
    if (auto failure = read_row(task, row)) return failure;
  return std::nullopt;
}

std::optional<ReadFailure> LoaderWorkerState::read_row(const ReadTask& task, std::int64_t row) {
  const std::int64_t sample = (*task.order)[static_cast<std::size_t>(task.first + row)];
  std::optional<ReadFailure> failure;
  point_to_row(source->fields, *task.buffer, row, destinations);
  watch->begin_read(number, sample);
  try {
    source->read(sample, task.epoch, {}, destinations);
  } catch (...) {
    failure = {row,
               {"data loader: reading sample " + std::to_string(sample) +
                " failed: " + text_of(std::current_exception())}};
  }
  watch->end_read(number);
  return failure;
}

LoaderWorker::behavior_type loader_worker(LoaderWorker::stateful_pointer<LoaderWorkerState> self,
                                          int number, std::shared_ptr<const LoaderSource> source,
                                          std::shared_ptr<LoaderWatch> watch) {
  base_init(self);
  self->state.self = self;
  self->state.number = number;
  self->state.source = std::move(source);
  self->state.watch = std::move(watch);
  return {[self](ReadRows& message) { self->state.on_read_rows(message); }};
}

}  // namespace penstock::actors
