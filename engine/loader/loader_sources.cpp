#include "engine/loader/loader_sources.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "actors/system/owning_process.hpp"
#include "engine/loader/loader_checks.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::vector<actors::SourceField> source_fields(const std::vector<Field>& fields) {
  std::vector<actors::SourceField> result;
  for (const Field& field : fields) result.push_back({field.dtype, field.shape});
  return result;
}

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

/// An EndOfForkedChild lives while a reader's thread runs code of a dataset. If that code forks and
/// comes back in the child, too, the child's process ends there: its only thread is a copy of the
/// reader's, for which there is no more work, and which nobody could end.
class EndOfForkedChild {
 public:
  /// The loader was made in `process`, which outlives this object.
  explicit EndOfForkedChild(const actors::OwningProcess& process) : process_(process) {}
  ~EndOfForkedChild() {
    if (!process_.is_current()) ::_exit(EXIT_FAILURE);
  }
  EndOfForkedChild(const EndOfForkedChild&) = delete;
  EndOfForkedChild& operator=(const EndOfForkedChild&) = delete;

 private:
  const actors::OwningProcess& process_;
};

/// Calls `function`, which is code of a dataset, on a reader's thread of a loader that was made in
/// `process`, and returns what it returns.
template <class Function>
decltype(auto) call_dataset(const actors::OwningProcess& process, Function&& function) {
  const EndOfForkedChild end(process);
  return call_host(std::forward<Function>(function));
}

}  // namespace

actors::LoaderSource source_of(std::shared_ptr<const Dataset> dataset) {
  actors::LoaderSource source{*checked_size(dataset), source_fields(fields_of(*dataset)), {}};
  source.read = [dataset = std::move(dataset), process = actors::OwningProcess()](
                    std::int64_t sample, std::uint64_t epoch, const std::stop_token& stop,
                    std::span<std::byte* const> to) {
    call_dataset(process, [&] { dataset->read({sample, epoch, stop}, to); });
  };
  return source;
}

actors::StreamSource source_of(std::shared_ptr<const IterableDataset> dataset, int workers) {
  actors::StreamSource source{source_fields(fields_of(*dataset)), {}};
  source.open = [dataset = std::move(dataset), workers, process = actors::OwningProcess()](
                    int worker, std::uint64_t epoch, const std::stop_token& stop) {
    auto begun = call_dataset(process, [&] {
      return dataset->begin({worker, workers, epoch, stop});
    });
    const std::shared_ptr<SampleStream> stream(begun.release(), [process](SampleStream* ended) {
      call_dataset(process, [&] { delete ended; });
    });
    if (!stream) throw Error(Errc::invalid_data, "expected a stream, got none");
    return [stream, process](std::span<std::byte* const> to, const std::stop_token& stop_next) {
      return call_dataset(process, [&] { return stream->next(to, stop_next); });
    };
  };
  return source;
}

actors::LoaderSettings loader_settings(std::int64_t rows, const EpochSize& size,
                                       const DataLoaderOptions& options) {
  return {.batch_rows = rows,
          .batches = size.batches,
          .shuffle = options.shuffle,
          .ahead = options.mode != LoaderMode::sync,
          .buffered = options.buffered,
          .workers = std::max(1, options.workers),
          .seed = options.seed.value_or(0),
          .partition = {options.partition.index, options.partition.count, size.used}};
}

actors::StreamSettings stream_settings(std::int64_t rows, const DataLoaderOptions& options) {
  return {.batch_rows = rows,
          .drop_last = options.drop_last,
          .rebatched = options.mode == LoaderMode::rebatched,
          .ahead = options.mode != LoaderMode::sync,
          .buffered = options.buffered,
          .workers = std::max(1, options.workers)};
}

actors::LoaderLimits loader_limits(const DataLoaderOptions& options) {
  const CanonicalFloats floats;  // The host may let floating-point exceptions trap.
  return {duration_of(options.timeout_seconds), duration_of(options.stop_seconds),
          options.trace_events};
}

}  // namespace penstock
