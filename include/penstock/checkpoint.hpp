// A Checkpoint has everything that a training needs to go on as if it had never been interrupted.
// A CheckpointDirectory keeps the newest checkpoints of a run in files. docs/checkpoints.md says
// how a run is saved and resumed, and what is in a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/named_tensor.hpp"
#include "penstock/saved_state.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// A Checkpoint is the state of a training between two steps. Its tensors bear the names of the
/// model's parameters, whatever the topology is, so that a training on any topology can go on from
/// it. Random numbers need no state of their own: they depend on the seed, which is in `options`,
/// and on the number of updates.
struct Checkpoint {
  /// `updates` is TrainingModel::updates(). The learning rate's schedule goes on from there, too.
  std::uint64_t updates = 0;
  /// `weights` has all parameters and buffers of the model, with buffers as the first replica has
  /// them.
  std::vector<NamedTensor> weights = {};
  /// `replica_buffers` has a list for each replica but the first, with that replica's buffers. It
  /// is empty if there is one replica, or if all replicas go on from the buffers of the first one.
  std::vector<std::vector<NamedTensor>> replica_buffers = {};
  /// `replica_buffers_length` is the length that the dynamic axes had in the step that has made
  /// `replica_buffers`: in a step of another length, all replicas begin with the buffers of the
  /// first one. It is 0 if the model has no dynamic axis.
  std::int64_t replica_buffers_length = 0;
  /// `optimizer_state` is TrainingModel::optimizer_state().
  std::vector<NamedTensor> optimizer_state = {};
  /// `optimizer` is TrainingModel::optimizer() as to_json() writes it, with its schedule.
  std::string optimizer = {};
  /// `options` are TrainingModel::options() as to_json() writes them.
  std::string options = {};
  /// `position` is the position of the loader that gives the training its batches.
  LoaderPosition position = {};
  /// `samples_per_batch` is DataLoader::samples_per_batch().
  std::int64_t samples_per_batch = 0;
  /// `states` has what other parts of the training have saved, by the names of these parts. fit()
  /// keeps its own state as "fit", and that of a callback as "callback " with the callback's name.
  std::map<std::string, SavedState> states = {};
};

/// Returns a copy of the state of `model` and of the position of `data`. The training goes on
/// unchanged, and nothing in the result is shared with it. @throws Error as
/// TrainingModel::optimizer_state() and DataLoader::position().
Checkpoint make_checkpoint(const TrainingModel& model, const DataLoader& data);

/// Lets `model` and `data` go on from `checkpoint`. The model is the one that was saved, on any
/// topology; the loader reads the same samples in the same order, and none of its epochs from that
/// of the position on has begun. If the number of replicas is another one, all replicas begin with
/// the buffers of the saved first one; if a batch has another number of samples, `data` goes on
/// with the first batch that has no sample of a batch that was taken. The optimizer becomes the
/// one that was saved, and TrainingModel::set_optimizer() may change it afterwards.
/// Numbers that are not finite are restored as they are, so that a training that has diverged can
/// be looked at. `stop` ends the reading of streams up to the position, as in DataLoader::seek().
/// @throws Error invalid_argument, naming the difference, for another batch_size, seed,
/// training.gradient_accumulation, training.reduction or training.reduction_strategy, and for
/// another rule or constant of the optimizer that TrainingModel::set_optimizer() refuses.
/// @throws Error shape_mismatch, naming the tensor, if the parameters, the buffers of a replica or
/// the optimizer's state are others than the model's; invalid_data for a step or a negative number
/// that TrainingModel::set_optimizer_state() refuses. Nothing has changed after any of these.
/// @throws Error as DataLoader::seek(); then the model has not changed. @throws Error
/// out_of_memory, and as TrainingModel::step() for a model that has failed; then the model may have
/// changed.
void restore_checkpoint(const Checkpoint& checkpoint, TrainingModel& model, DataLoader& data,
                        const std::stop_token& stop = {});

/// Writes `checkpoint` to a file at `path`, whole or not at all. The file is on the disk when the
/// function returns. It is in the safetensors format, with a checksum of all that it holds.
/// @throws Error io_error; out_of_memory; invalid_argument if a text is not UTF-8, or if all names
/// and texts together are larger than 100 MB. A file that was at `path` is then unchanged, unless
/// the text says that the new one is in place and only its directory was not written to the disk.
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Reads the file at `path`. @throws Error io_error; corrupt_file if the file is damaged or is no
/// checkpoint; unsupported if a newer version of Penstock has written it; out_of_memory. The text
/// names the file.
Checkpoint load_checkpoint(const std::string& path);

/// A FoundCheckpoint is what CheckpointDirectory::newest() has found.
struct FoundCheckpoint {
  /// `checkpoint` is the newest checkpoint that is whole, or nothing if there is none.
  std::optional<Checkpoint> checkpoint = {};
  std::string path = {};  ///< `path` is the path of its file.
  /// `skipped` has a text for each newer file that was passed over, which names the file and says
  /// what is wrong with it.
  std::vector<std::string> skipped = {};
};

/// A CheckpointDirectory keeps the newest checkpoints of one run in a directory, each in a file
/// that is named after its number of updates, such as "checkpoint-000000001200.safetensors". While
/// the object lives, it has a lock on the directory, so that no second run mixes its checkpoints
/// with those of the first; the system releases the lock of a process that has died. A thread of
/// the object writes the files, so that a training stands still only while it is copied. One thread
/// at a time uses the object. In a process that was forked from its own, every function throws
/// Error closed, and the destructor does nothing.
class CheckpointDirectory {
 public:
  /// Makes the directory unless it exists, and locks it. The newest `keep` checkpoints are kept.
  /// @throws Error invalid_argument if `keep` is below 1; busy if another CheckpointDirectory, in
  /// this or another process, has the lock; io_error if the directory cannot be made, or if no file
  /// can be made in it.
  explicit CheckpointDirectory(const std::string& path, int keep = 3);
  /// Waits until the checkpoint that was saved last is on the disk. An error is dropped; wait()
  /// throws it.
  ~CheckpointDirectory();
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;

  /// Returns the numbers of updates of the files that the directory has, in ascending order,
  /// whether or not the files are whole.
  std::vector<std::uint64_t> numbers() const;
  /// Reads the newest checkpoint that is whole, after waiting for the one that was saved last.
  /// Files that are damaged are passed over.
  /// @throws Error out_of_memory; io_error if a file cannot be read, because an older checkpoint
  /// must not replace one that may be whole.
  FoundCheckpoint newest() const;

  /// Waits for the last checkpoint as wait() does, and then begins to write `checkpoint`. When it
  /// is on the disk, files that are older than the newest `keep` whole checkpoints are removed. A
  /// process that is killed meanwhile may leave one checkpoint more than `keep`; once newest() has
  /// found the checkpoint to go on from, the next save removes it. Files that newest() has found to
  /// be damaged are not counted. @throws Error as wait(); out_of_memory.
  void save(Checkpoint checkpoint);
  /// Waits until the checkpoint that was saved last is on the disk. @throws Error as
  /// save_checkpoint(), and io_error if the directory is no longer the one that was locked, each
  /// once for each checkpoint that could not be written. Older checkpoints are then still there.
  void wait();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
