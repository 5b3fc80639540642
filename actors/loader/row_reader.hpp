// A RowReader reads rows of a dataset with numbered samples into a batch's memory. Only one thread
// at a time may use it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "actors/loader/loader_core.hpp"
#include "actors/loader/loader_source.hpp"
#include "actors/loader/loader_watch.hpp"
#include "actors/loader/reader_job.hpp"

namespace penstock::actors {

class RowReader : public Reader {
 public:
  /// Makes the reader of worker number `number`; workers are counted from 0.
  RowReader(int number, std::shared_ptr<const LoaderSource> source,
            std::shared_ptr<LoaderWatch> watch);

  /// Reads the rows of `task` until a row cannot be read, or until the task's epoch is no longer
  /// wanted. If the source throws, the result has the failure.
  ReadResult read(const ReadTask& task) noexcept;
  void end() noexcept override { source_.reset(); }

 private:
  std::optional<ReadFailure> read_row(const ReadTask& task, std::int64_t row,
                                      const std::stop_token& stop) noexcept;

  int number_;
  std::shared_ptr<const LoaderSource> source_;
  std::shared_ptr<LoaderWatch> watch_;
  // This has, for each field, the address to which the row that is being read is written.
  std::vector<std::byte*> destinations_;
};

}  // namespace penstock::actors
