// A DataLoader shuffles a dataset and assembles what one step of a model takes, ahead of time if it
// is asked to. It owns its worker threads, and may be used by one thread at a time.
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
#include "penstock/trace.hpp"

namespace penstock {

/// A batch has one tensor per field, of shape [samples, field...]. Its rows are in the order device
/// iteration, accumulation step, replica, sample.
using Batch = std::vector<Tensor>;

/// A LoaderMode says when batches are assembled.
enum class LoaderMode : std::uint8_t {
  sync,   ///< A batch is assembled when it is asked for.
  async,  ///< Batches are assembled ahead, `DataLoaderOptions::buffered` of them at most.
  /// Batches are assembled ahead, as in async mode, but a batch of an iterable dataset takes
  /// samples from all workers in turn, so that only the last batch of an epoch can fall short. In
  /// the other modes each batch comes from one worker, and the last batch of each worker can fall
  /// short.
  rebatched,
};

/// A Sampler returns the order of an epoch's samples: any numbers of samples that the dataset has,
/// each any number of times.
using Sampler = std::function<std::vector<std::int64_t>(std::uint64_t epoch)>;
/// A BatchSampler returns the batches of an epoch, each as the numbers of its samples. No batch may
/// be empty.
using BatchSampler = std::function<std::vector<std::vector<std::int64_t>>(std::uint64_t epoch)>;

/// A Partition says which samples a loader reads if several loaders divide one dataset, for example
/// because each is in a process of its own. Loaders whose other options are the same share no
/// sample and have equally many batches in every epoch. The samples that are left over differ from
/// epoch to epoch.
struct Partition {
  int index = 0;  ///< This loader reads the partition of this number, from 0 to `count` - 1.
  int count = 1;  ///< The dataset is divided into this many partitions.
};

/// DataLoaderOptions say how a DataLoader orders its samples, makes batches of them and reads them.
struct DataLoaderOptions {
  /// `shuffle` says whether samples have another order in every epoch. The order depends on `seed`
  /// and the epoch's number alone.
  bool shuffle = false;
  /// `drop_last` says whether the samples that do not fill a batch are left out.
  bool drop_last = true;
  LoaderMode mode = LoaderMode::async;  ///< `mode` says when batches are assembled.
  int workers = 2;                      ///< This many threads read samples; 0 counts as 1.
  /// This many batches are assembled ahead, except in sync mode.
  int buffered = 3;
  /// The order of the samples depends on `seed`, which counts as 0 if it is not set. All partitions
  /// of a dataset use one seed, so that `seed` must be set if they are shuffled.
  std::optional<std::uint64_t> seed = {};
  /// A wait for a batch that takes longer than this many seconds fails, and the error says what was
  /// waited for.
  double timeout_seconds = 60;
  /// Once close() or the destructor has asked code of the dataset to stop, it waits this many
  /// seconds for that code before it leaves the code's thread behind.
  double stop_seconds = 10;
  /// If `sampler` is set, it decides the order of the samples, and `shuffle` and `partition` may
  /// not be set. The constructor calls the sampler for the first epoch, and start_epoch() calls it
  /// for each later one. seek() calls it for the epoch that it goes to. If no epoch has begun since
  /// the constructor or seek(), skip_epochs() calls the sampler for the epoch that is then the
  /// next. All four pass on what the sampler throws, except that std::bad_alloc becomes Error
  /// out_of_memory.
  /// @throws Error invalid_data if the sampler returns samples that make no batch, or a number that
  /// the dataset does not have.
  Sampler sampler = {};
  Partition partition = {};  ///< `partition` says which samples of the dataset this loader reads.
  /// `log` is called with one line of text if a thread has to be left behind; see
  /// DataLoader::close(). The thread that calls close() or the destructor makes the call, and the
  /// destructor drops what the function throws.
  std::function<void(std::string_view)> log = {};
  /// The loader keeps its newest `trace_events` events until take_trace() returns them; 0 means
  /// that it records nothing. An event takes 40 bytes.
  std::int64_t trace_events = 0;

  /// Checks every field. @throws Error invalid_argument that names the field, its range and its
  /// value.
  void validate() const;
};

/// Returns the name of the enumerator.
std::string_view to_string(LoaderMode value) noexcept;

/// A LoaderPosition says how far a loader has come.
struct LoaderPosition {
  /// `epoch` is the number of the epoch that the loader is in, or of its first epoch if none has
  /// begun. A loader's epochs are counted from 0.
  std::uint64_t epoch = 0;
  std::int64_t batches = 0;   ///< This many batches of that epoch were taken.
  std::uint64_t skipped = 0;  ///< This many epochs that follow are left out by skip_epochs().
  /// `begun` says that the epoch has begun, but that no batch was taken and no epoch left out
  /// since. If `batches` or `skipped` are not 0, the epoch has begun in any case, and `begun` is
  /// false.
  bool begun = false;

  /// Returns whether both positions are the same.
  bool operator==(const LoaderPosition&) const = default;
};

/// A ClosedLoader says what was left behind when a loader was closed.
struct ClosedLoader {
  int threads_left = 0;  ///< This many threads of the loader are still in the dataset's code.
  /// `note` is one line that says which samples the threads that are left are reading. It is empty
  /// if no thread is left.
  std::string note = {};
};

/// A DataLoader assembles the samples of a dataset into batches. What the batches hold depends on
/// the dataset, on the sampler or else on `shuffle` and `seed`, on the partition, and on the number
/// of epochs that were begun or left out. With an iterable dataset, what they hold depends also on
/// the number of workers, which share the dataset, and on whether the mode is `rebatched`. What
/// they hold never depends on timing.
///
/// A loader serves one call at a time: next(), start_epoch(), skip_epochs(), position(), seek(),
/// take_trace() and close() throw Error busy while another of them is under way on any thread. The
/// functions that count batches, samples and waits may be called at the same time. The host must
/// not destroy or move a loader while a call of the loader is under way; nothing detects that. In a
/// process that was forked from the loader's own process, these functions throw Error closed, and
/// the destructor returns at once and frees nothing. Every function throws Error out_of_memory if
/// there is no memory, and may then be called again.
class DataLoader {
 public:
  /// Makes batches of `samples_per_batch` samples. @throws Error invalid_argument for options that
  /// are out of range; invalid_data if the dataset is empty, if its samples have no field or if,
  /// with drop_last, the samples do not fill one batch.
  DataLoader(std::shared_ptr<const Dataset> dataset, std::int64_t samples_per_batch,
             const DataLoaderOptions& options = {});
  /// Makes batches for one step of a training with the options `model`, of
  /// Options::samples_per_step() samples each. evaluate() and predict() take such a batch in
  /// several runs. For InferenceModel::run(), pass InferenceModel::samples_per_run() to the
  /// constructor that takes a number of samples.
  DataLoader(std::shared_ptr<const Dataset> dataset, const Options& model,
             const DataLoaderOptions& options = {});
  /// Makes batches that each join `concatenated` consecutive batches of `sampler` (D·G·R of them
  /// for one step of a model; CallSize explains these letters). The sampler is called at the same
  /// times as DataLoaderOptions::sampler. If fewer than `concatenated` batches are left at the end
  /// of an epoch, they are left out. @throws Error as the constructors without a batch sampler;
  /// invalid_argument for options that order or count samples (shuffle, drop_last = false, sampler,
  /// partition); invalid_data for a sample that the dataset does not have, or for an empty batch.
  DataLoader(std::shared_ptr<const Dataset> dataset, BatchSampler sampler,
             std::int64_t concatenated, const DataLoaderOptions& options = {});
  /// Makes batches of an iterable dataset, whose samples are divided among max(1, workers) workers.
  /// @throws Error invalid_argument for options that are out of range and for `shuffle`, a sampler
  /// or a partition, all of which need samples with numbers; invalid_data if the dataset says that
  /// it is empty or has no field.
  DataLoader(std::shared_ptr<const IterableDataset> dataset, std::int64_t samples_per_batch,
             const DataLoaderOptions& options = {});
  /// Makes batches of an iterable dataset. Each batch has the samples of one step of a
  /// TrainingModel with the options `model`. @throws Error as the constructor does that takes
  /// `samples_per_batch`.
  DataLoader(std::shared_ptr<const IterableDataset> dataset, const Options& model,
             const DataLoaderOptions& options = {});
  /// Closes the loader as close() does, unless close() was called already.
  ~DataLoader();
  /// Takes over the contents of the other loader, which may then only be destroyed or assigned to.
  DataLoader(DataLoader&&) noexcept;
  /// Closes this loader as the destructor does, and takes over the contents of the other loader.
  DataLoader& operator=(DataLoader&&) noexcept;

  /// Returns the fields of the dataset. A batch has a tensor for each of them.
  const std::vector<Field>& fields() const noexcept;
  /// Returns the number of samples in a batch, or in the epoch's largest batch if there is a batch
  /// sampler.
  std::int64_t samples_per_batch() const noexcept;
  /// Returns the number of samples in the last batch of the epoch, as far as it is known
  /// beforehand. For an iterable dataset the result is samples_per_batch(), or the size of the
  /// dataset if that is known and smaller.
  std::int64_t last_batch_samples() const noexcept;
  /// Returns whether a batch sampler decides how many samples each batch has.
  bool has_batch_sampler() const noexcept;
  /// Returns the number of batches in an epoch, or, with a sampler, in this epoch. For an iterable
  /// dataset it is the number that follows from the size that the dataset says; there may be fewer,
  /// because each worker leaves out its own remainder. It is 0 if the dataset does not say its
  /// size.
  std::int64_t batches() const noexcept;
  /// Returns how many samples each epoch leaves out, counted over all partitions. With a
  /// sampler it is how many of the sampler's samples this epoch leaves out, and for an iterable
  /// dataset how many this epoch has left out so far.
  std::int64_t dropped_samples() const noexcept;
  /// Returns one line that tells the host which samples fill no batch, or an empty text if all of
  /// them do. For an iterable dataset this is known at the end of an epoch.
  std::string note() const;

  /// Begins the next epoch, whether or not the last epoch was read to its end. Reads that are still
  /// under way for the last epoch are asked to stop. A read that does not stop keeps its worker
  /// from the new epoch, and next() then throws Error stalled after the timeout.
  void start_epoch();
  /// Leaves out the next `count` epochs, so that a training can go on where another run has ended.
  /// @throws Error as start_epoch().
  void skip_epochs(std::uint64_t count);
  /// Returns the epoch that the loader is in or, if it has not begun, is about to begin, how many
  /// of its batches were taken, and how many of the following epochs are left out. @throws Error
  /// busy; closed in a forked process.
  LoaderPosition position() const;
  /// Goes to `position`, after which every call does what it would do on a loader that had come
  /// there by itself. The first `position.batches` batches of the epoch `position.epoch` are left
  /// out, and so are the `position.skipped` epochs that follow. seek() begins the epoch if the
  /// loader at `position` had begun it. Otherwise the position has no batches, no epochs that are
  /// left out and no `begun`, and the next call of next() or start_epoch() begins the epoch. The
  /// samples of numbered datasets that are left out are not read. A sampler is called for the
  /// epoch, and has to return what it returned before. The streams of an iterable dataset have no
  /// numbers to begin at: they are opened for the epoch and read up to the position. The batches
  /// are the same only if the streams give the same samples whenever they are opened for one epoch,
  /// as those of a file do and those of a socket do not; the loader cannot tell. `stop` ends the
  /// reading of streams as it ends next().
  /// @throws Error invalid_argument if the epoch has begun already or was left out, or if it has
  /// fewer batches than `position.batches`, which leaves the loader of numbered samples unchanged;
  /// as start_epoch(), and for streams as next(), after which the epoch has begun.
  void seek(const LoaderPosition& position, const std::stop_token& stop = {});
  /// Returns the next batch of the epoch, or nothing at the end of the epoch. If no epoch has begun
  /// since the loader was made, or since seek() has gone to an epoch without beginning it, the call
  /// begins the next epoch. A batch's tensors do not change for as long
  /// as they are held. The memory of tensors that were dropped is used again: a caller who holds
  /// one batch at a time makes the loader allocate `buffered` + 1 batches in all, and each further
  /// batch that is held costs one more. Once `stop` is requested, the call waits no longer; the
  /// dataset is not asked to stop.
  /// @throws Error invalid_data if an iterable dataset turns out to be empty, or, naming the
  /// sample, if it could not be read; out_of_memory if the dataset reported that. Both are thrown
  /// again by every call until the next epoch begins.
  /// @throws Error stalled after the timeout, naming what is being read; cancelled if `stop` was
  /// requested; out_of_memory if there is no memory for a batch. After any of these the next call
  /// goes on with the same batch as if nothing had happened.
  /// @throws Error closed after close().
  std::optional<Batch> next(const std::stop_token& stop = {});
  /// Ends the loader: asks any code of the dataset that is running to stop (SampleRequest::stop,
  /// WorkerInfo::stop), waits for it for `stop_seconds`, and frees all that the loader has. Code
  /// that has not returned by then keeps its thread and everything that the code uses, the dataset
  /// included; when the code returns, the thread frees all that and ends. The process may end
  /// before that, but must not unload this library. Batches that the caller holds do not change. A
  /// further call returns what is still left behind. The only code that the call waits for without
  /// a limit is code of the dataset that runs on the calling thread: callbacks of a stop token and,
  /// if nobody else holds the dataset, the dataset's destructor.
  ClosedLoader close();
  /// Returns how many seconds next() has waited, over all epochs, for batches that were not ready.
  /// In sync mode, and with an iterable dataset in rebatched mode, every batch counts, because it
  /// is assembled during the call of next().
  double waited_seconds() const noexcept;
  /// Returns what the readers have done, and each wait that waited_seconds() counts, since the last
  /// call of this function, in the order in which they ended. If a host appends the events to
  /// Profile::host_events, write_profile() gives each reader and the loader a row in trace.json; it
  /// should append the events of one loader only. There are no events unless
  /// DataLoaderOptions::trace_events is set; if there were more than that, or no memory for them,
  /// the older ones are lost. A loader that was closed still returns its events.
  /// @throws Error busy; closed in a forked process.
  std::vector<HostEvent> take_trace();

  /// An Iterator makes `for (Batch& batch : loader)` possible.
  class Iterator;
  /// Begins an epoch with start_epoch() and reads its first batch. @throws Error as next().
  Iterator begin();
  /// Returns the value that an iterator equals at the end of its epoch.
  std::nullptr_t end() noexcept { return nullptr; }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// An Iterator goes through the batches of one epoch. Incrementing an iterator drops its current
/// batch.
class DataLoader::Iterator {
 public:
  /// Reads the first batch of the epoch that `loader` is in. @throws Error as DataLoader::next().
  explicit Iterator(DataLoader& loader) : loader_(&loader), batch_(loader.next()) {}
  /// Returns the current batch, which the caller may change or move from.
  Batch& operator*() noexcept { return *batch_; }
  /// Drops the current batch and reads the next one. @throws Error as DataLoader::next().
  Iterator& operator++() {
    batch_.reset();  // The loader may use the memory of this batch for the next one.
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
