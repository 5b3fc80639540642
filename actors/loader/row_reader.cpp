#include "actors/loader/row_reader.hpp"

#include <exception>
#include <string>
#include <utility>

#include "actors/loader/load_failure.hpp"
#include "graph/values/canonical_floats.hpp"

namespace penstock::actors {

RowReader::RowReader(int number, std::shared_ptr<const LoaderSource> source,
                     std::shared_ptr<LoaderWatch> watch)
    : number_(number), source_(std::move(source)), watch_(std::move(watch)) {}

ReadResult RowReader::read(const ReadTask& task) noexcept {
  const CanonicalFloats floats;
  const std::stop_token stop = watch_->stop_of(task.epoch);
  ReadResult result{task.epoch, task.batch, {}};
  if (stop.stop_requested()) return result;
  traced(watch_->trace(), {.actor = HostActor::reader, .reader = number_}, [&] {
    for (std::int64_t row = task.rows.begin; row < task.rows.end && !result.failure; ++row) {
      if (stop.stop_requested()) break;
      result.failure = read_row(task, row, stop);
    }
  });
  return result;
}

std::optional<ReadFailure> RowReader::read_row(const ReadTask& task, std::int64_t row,
                                               const std::stop_token& stop) noexcept {
  const std::int64_t sample = task.plan->sample(task.first + row);
  std::optional<ReadFailure> failure;
  watch_->begin_read(number_, sample);
  try {
    point_to_row(source_->fields, *task.buffer, row, destinations_);
    source_->read(sample, task.epoch, stop, destinations_);
  } catch (...) {
    failure = {row, failure_of(std::current_exception(), Errc::invalid_data, [&] {
                 return "data loader: reading sample " + std::to_string(sample) + " failed: ";
               })};
  }
  watch_->end_read(number_);
  return failure;
}

}  // namespace penstock::actors
