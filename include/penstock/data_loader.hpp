// A DataLoader shuffles a dataset and assembles what one step of a model takes, ahead of time if
// asked to. It owns its worker threads, and one thread at a time uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/dataset.hpp"
#include "penstock/iterable_dataset.hpp"
#include "penstock/options.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A batch has one tensor per field, [samples, field...], with rows in the order device iteration,
/// accumulation step, replica, sample.
using Batch = std::vector<Tensor>;

enum class LoaderMode : std::uint8_t {
  sync,   ///< a batch is assembled when it is asked for
  async,  ///< batches are assembled ahead, `buffered` at the most
  /// Works as async, but a batch of an iterable dataset takes samples from all workers in turn, so
  /// that only the epoch's last ones can fall short of a batch. In the other modes a batch is of
  /// one worker, and each worker's last samples can fall short.
  rebatched,
};

/// Returns an epoch's samples in their order: any of the dataset's numbers, any number of times.
using Sampler = std::function<std::vector<std::int64_t>(std::uint64_t epoch)>;
/// Returns an epoch's samples in batches, none of which is empty.
using BatchSampler = std::function<std::vector<std::vector<std::int64_t>>(std::uint64_t epoch)>;

/// Says which of several loaders of one dataset this is, each in a process of its own, say. With
/// the same options otherwise, they have no sample in common and equally many batches in every
/// epoch. The samples that are left over are other ones in the next epoch.
struct Partition {
  int index = 0;  ///< 0 to count-1
  int count = 1;  ///< This is the number of parts.
};

/// Says how a DataLoader orders its samples, makes batches of them and reads them.
struct DataLoaderOptions {
  bool shuffle = false;   ///< another order every epoch, from `seed` and the epoch's number alone
  bool drop_last = true;  ///< leave out the samples that do not fill a batch
  LoaderMode mode = LoaderMode::async;  ///< This decides when a batch is assembled.
  int workers = 2;                      ///< threads that read samples; 0 is taken for 1
  int buffered = 3;                     ///< batches assembled ahead, unless in sync mode
  /// Without one it is 0, but the parts of a partition, which share it, need one to shuffle.
  std::optional<std::uint64_t> seed = {};
  double timeout_seconds = 60;  ///< a wait for a batch longer than this fails, and says for what
  /// The time that close() and the destructor give code of the dataset, once they have asked it to
  /// stop, before they leave its thread behind.
  double stop_seconds = 10;
  /// Replaces the dataset's order, without `shuffle` and partition. The constructor calls it for
  /// the first epoch, then start_epoch(). They let through what it throws, but for std::bad_alloc,
  /// which becomes Error out_of_memory.
  /// @throws Error invalid_data for a sample that the dataset has not, or no batch at all.
  Sampler sampler = {};
  Partition partition = {};  ///< This loader gives the samples of this part alone.
  /// This function is told in one line when a thread has to be left behind; see close(). It is
  /// called on the thread that calls close() or the destructor, and the destructor drops what it
  /// throws.
  std::function<void(std::string_view)> log = {};

  /// @throws Error invalid_argument naming the field, what it may be, and what it is.
  void validate() const;
};

std::string_view to_string(LoaderMode value) noexcept;

/// Says what closing a loader has left behind.
struct ClosedLoader {
  int threads_left = 0;   ///< threads of the loader that are still in the dataset's code
  std::string note = {};  ///< which samples they read, in one line; empty if there are none
};

/// The content of the batches depends on the dataset, what the sampler says or else `shuffle` and
/// `seed`, the partition, and the number of epochs begun or left out; never on mode, workers or
/// timing. Of an iterable dataset it depends on the number of
/// workers too, which share it, and on whether they are rebatched; never on timing.
///
/// A loader serves one call at a time: next(), start_epoch(), skip_epochs() and close() throw Error
/// busy while another of them is under way, on whatever thread. What tells of batches, samples and
/// waits may be called beside them. To destroy or move a loader while a call of it is under way is
/// an error of the host's that nobody notices. In a process that was forked from the loader's own,
/// the four calls throw Error closed, and the destructor returns at once and frees nothing. Every
/// call throws Error out_of_memory where there is no memory, and the same call may be made again.
class DataLoader {
 public:
  /// Makes batches of `samples_per_batch` samples. @throws Error invalid_argument, or invalid_data
  /// if the dataset is empty, its samples have no field or, with drop_last, they make no batch.
  DataLoader(std::shared_ptr<const Dataset> dataset, std::int64_t samples_per_batch,
             const DataLoaderOptions& options = {});
  /// Makes batches for one step of a training with `model` (b·D·G·R samples). evaluate() and
  /// predict() take them in several runs. For InferenceModel::run(), say its samples_per_run().
  DataLoader(std::shared_ptr<const Dataset> dataset, const Options& model,
             const DataLoaderOptions& options = {});
  /// Each batch consists of `concatenated` consecutive ones of the sampler's (D·G·R for one step of
  /// a model), which is called as options.sampler is. With fewer than that at the end, their
  /// samples are left out. @throws Error as above; invalid_argument for options that order or count
  /// samples (shuffle, drop_last = false, sampler, partition); invalid_data for a sample that the
  /// dataset has not or an empty batch.
  DataLoader(std::shared_ptr<const Dataset> dataset, BatchSampler sampler,
             std::int64_t concatenated, const DataLoaderOptions& options = {});
  /// Makes batches of an iterable dataset, dealt out to max(1, workers) workers.
  /// @throws Error invalid_argument, also for `shuffle`, a sampler or a partition, which need
  /// samples with numbers; invalid_data if it knows that it is empty or has no field.
  DataLoader(std::shared_ptr<const IterableDataset> dataset, std::int64_t samples_per_batch,
             const DataLoaderOptions& options = {});
  /// Makes batches of an iterable dataset for one step of a training with `model`.
  DataLoader(std::shared_ptr<const IterableDataset> dataset, const Options& model,
             const DataLoaderOptions& options = {});
  /// Does what close() does, unless that has been called.
  ~DataLoader();
  /// Leaves the other loader without anything: nothing but destruction and assignment is left
  /// to it.
  DataLoader(DataLoader&&) noexcept;
  /// Does what the destructor does, and takes over the other loader.
  DataLoader& operator=(DataLoader&&) noexcept;

  /// Returns the dataset's fields: of each a batch has a tensor.
  const std::vector<Field>& fields() const noexcept;
  /// Returns the size of a batch, or of the epoch's largest one if there is a batch sampler.
  std::int64_t samples_per_batch() const noexcept;
  /// Returns the size of the epoch's last batch, as far as is known beforehand: an iterable
  /// dataset's is that of every batch, or the dataset's size, if that is known and less.
  std::int64_t last_batch_samples() const noexcept;
  /// Returns whether a batch sampler decides how many samples each batch has.
  bool has_batch_sampler() const noexcept;
  /// Returns the batches per epoch; with a sampler, of this one. For an iterable dataset it is what
  /// its size promises, of which workers' shares may fall short; 0 if it does not say its size.
  std::int64_t batches() const noexcept;
  /// Returns how many samples each epoch leaves out, all parts of a partition together; with a
  /// sampler, how many of its samples this epoch does. For an iterable dataset it is this epoch so
  /// far.
  std::int64_t dropped_samples() const noexcept;
  /// Returns what the host should know about samples that fill no batch, in one line; empty if all
  /// do. For an iterable dataset it is known at the end of an epoch.
  std::string note() const;

  /// Begins the next epoch, whether or not the last one was read to its end. Whatever is still
  /// being read for the last one is asked to stop; where it does not, it keeps its worker from the
  /// new epoch, whose next() then throws Error stalled after the timeout.
  void start_epoch();
  /// Leaves epochs out: the next one that begins is the one that would begin after so many more, as
  /// when a training goes on where another run has ended. @throws Error as start_epoch().
  void skip_epochs(std::uint64_t count);
  /// The next batch of the epoch; nothing at its end. The first call begins the first epoch unless
  /// start_epoch() has. Tensors stay as they are for as long as they are held. The memory of those
  /// that were dropped is used again: a caller who holds one batch at a time makes the loader
  /// allocate `buffered` + 1 of them in all, and another one for each that it holds besides.
  /// Once `stop` is requested the call waits no longer; the dataset is asked nothing.
  /// @throws Error invalid_data if an iterable dataset turns out to be empty, or naming the sample
  /// if reading failed, and out_of_memory if the dataset said so: these again and again until the
  /// next epoch. stalled after the timeout, naming what is being read; cancelled as `stop` asked;
  /// out_of_memory if there is none for a batch: after these the next call goes on with the same
  /// batch, as if nothing had happened. closed after close().
  std::optional<Batch> next(const std::stop_token& stop = {});
  /// Ends the loader: asks whatever code of the dataset is running to stop (SampleRequest::stop,
  /// WorkerShare::stop), waits for it for `stop_seconds`, and gives back all that the loader has.
  /// Code that has not returned by then keeps its thread and whatever that uses, the dataset
  /// included, until it returns; then the thread frees them and ends. The process may end before it
  /// does, but must not unload this library. Batches that are held stay as they are. Calling it
  /// again returns what is left by then. It waits without a limit for nothing but code of the
  /// dataset that is called on this thread: callbacks of a stop token, and, if nobody else holds
  /// the dataset, its destructor.
  ClosedLoader close();
  /// Returns how long next() has waited in all epochs for batches that were not there. None is in
  /// sync mode, nor in rebatched mode of an iterable dataset, whose batches are put together then.
  double waited_seconds() const noexcept;

  /// Serves `for (Batch& batch : loader)`; begin() starts an epoch.
  class Iterator;
  /// Begins an epoch by start_epoch() and reads its first batch. @throws Error as next().
  Iterator begin();
  /// Returns what an iterator is compared with that has come to the end of its epoch.
  std::nullptr_t end() noexcept { return nullptr; }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Goes through the batches of one epoch. A step of it ends the use of the batch before.
class DataLoader::Iterator {
 public:
  /// Reads the first batch of the epoch that `loader` is in. @throws Error as
  /// DataLoader::next().
  explicit Iterator(DataLoader& loader) : loader_(&loader), batch_(loader.next()) {}
  /// Returns the current batch, which the caller may change or move from.
  Batch& operator*() noexcept { return *batch_; }
  /// Drops the current batch and reads the next one. @throws Error as DataLoader::next().
  Iterator& operator++() {
    batch_.reset();  // its memory may serve again
    batch_ = loader_->next();
    return *this;
  }
  /// Returns whether the epoch has ended.
  bool operator==(std::nullptr_t) const noexcept { return !batch_; }

 private:
  DataLoader* loader_;
  std::optional<Batch> batch_;
};

}  // namespace penstock
