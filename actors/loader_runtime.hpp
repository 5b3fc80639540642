// LoaderRuntime: a loader actor with its workers and threads, as a plain object. Used from one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/loader_source.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

class LoaderRuntime {
 public:
  /// A batch of every field is known to make a tensor.
  LoaderRuntime(LoaderSource source, const LoaderSettings& settings,
                std::chrono::nanoseconds timeout);
  /// Waits for samples that are just being read, and for nothing else.
  ~LoaderRuntime();

  /// Numbers are greater from epoch to epoch.
  void start_epoch(std::uint64_t epoch);
  /// Batch `batch` of the epoch, one tensor per field. Batches are taken in their order; one whose
  /// taking failed may be taken again.
  /// @throws Error invalid_data if a sample cannot be read; stalled after the timeout; closed or
  /// internal if the loader is gone.
  std::vector<Tensor> take(std::int64_t batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::actors
