#include "actors/loader/stream_reader.hpp"

#include <exception>
#include <string>
#include <utility>

#include "actors/loader/load_failure.hpp"
#include "graph/values/canonical_floats.hpp"

namespace penstock::actors {

StreamReader::StreamReader(int number, std::shared_ptr<const StreamSource> source,
                           std::shared_ptr<LoaderWatch> watch)
    : number_(number), source_(std::move(source)), watch_(std::move(watch)) {}

FillResult StreamReader::fill(const FillTask& task) noexcept {
  const CanonicalFloats floats;
  const std::stop_token stop = watch_->stop_of(task.epoch);
  FillResult result{task.epoch, task.chunk, 0, {}};
  if (stop.stop_requested()) return result;
  if (epoch_ != task.epoch) samples_ = 0;
  watch_->begin_read(number_, samples_);
  traced(watch_->trace(), {.actor = HostActor::reader, .reader = number_},
         [&] { fill_rows(task, stop, result); });
  watch_->end_read(number_);
  return result;
}

void StreamReader::fill_rows(const FillTask& task, const std::stop_token& stop,
                             FillResult& result) noexcept try {
  if (epoch_ != task.epoch) open(task.epoch, stop);
  while (stream_ && result.filled < task.rows && !stop.stop_requested()) {
    point_to_row(source_->fields, *task.buffer, result.filled, destinations_);
    watch_->begin_read(number_, samples_);
    if (!stream_(destinations_, stop)) {
      stream_ = {};
      return;
    }
    ++samples_;
    ++result.filled;
  }
} catch (...) {
  result.failure = failure_of(std::current_exception(), Errc::invalid_data, [&] {
    return "data loader: reading sample " + std::to_string(samples_) + " of worker " +
           std::to_string(number_) + "'s stream failed: ";
  });
  stream_ = {};
}

void StreamReader::open(std::uint64_t epoch, const std::stop_token& stop) {
  stream_ = {};
  epoch_ = epoch;
  stream_ = source_->open(number_, epoch, stop);
}

void StreamReader::end() noexcept {
  stream_ = {};
  source_.reset();
}

}  // namespace penstock::actors
