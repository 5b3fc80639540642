// fit(), evaluate() and predict() are loops around a model, for hosts that do not write their own.
// They run on the caller's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/metric.hpp"
#include "penstock/saved_state.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

struct Checkpoint;

/// A NamedValue is a number in the records of a training: the loss or a metric.
struct NamedValue {
  /// `name` is "loss" or the name of a metric, with "val_" before it if it comes from the
  /// validation.
  std::string name;
  double value = 0;  ///< `value` is the number, or nan if nothing was counted.
};
/// Returns the value called `name`. @throws Error invalid_argument if there is none.
double value_of(const std::vector<NamedValue>& values, const std::string& name);

/// A StepRecord describes one call of TrainingModel::step().
struct StepRecord {
  int epoch = 1;          ///< `epoch` is the number of the epoch, counted from 1.
  std::int64_t step = 1;  ///< `step` is the number of the step within its epoch, counted from 1.
  std::uint64_t updates = 0;  ///< This call of fit() has done this many updates so far.
  /// `values` has the values of this step alone: first "loss", and then the metrics.
  std::vector<NamedValue> values = {};
  /// `samples_per_second` is the number of samples divided by the seconds that were spent in step()
  /// and in waiting for data.
  double samples_per_second = 0;
};

/// An EpochRecord describes one epoch of fit().
struct EpochRecord {
  int epoch = 1;              ///< `epoch` is the number of the epoch, counted from 1.
  std::int64_t steps = 0;     ///< The epoch called step() this many times.
  std::uint64_t updates = 0;  ///< This call of fit() has done this many updates so far.
  /// `values` has the values over the whole epoch: "loss", which is a mean, the metrics, and the
  /// values of the evaluation, with "val_" before their names. A value is nan if the output mode
  /// returned nothing to compute it from.
  std::vector<NamedValue> values = {};
  double seconds = 0;  ///< The epoch took this many seconds, without its evaluation.
  /// `waited_seconds` is the part of `seconds` that was spent in waiting for data, as
  /// DataLoader::waited_seconds() counts it.
  double waited_seconds = 0;
  /// The evaluation counted this many samples; Evaluation::samples says the same.
  std::int64_t validation_samples = 0;
  /// The evaluation left out this many samples, which fill no batch; Evaluation::left_out says the
  /// same.
  std::int64_t validation_left_out = 0;
};

/// A History says what a training has done. fit() returns it.
struct History {
  /// `epochs` has a record for every epoch that came to its end.
  std::vector<EpochRecord> epochs = {};
  std::uint64_t updates = 0;  ///< The training has done this many weight updates.
  /// `samples_per_second` is the number of samples divided by the seconds from the call of the
  /// first step to the return of the last step. Loading is part of that time, and evaluations are
  /// not.
  double samples_per_second = 0;
  /// `waited_seconds` is the number of seconds that all epochs spent in waiting for data.
  double waited_seconds = 0;
  /// `cancelled` says whether fit() ended early because `stop` was requested. `updates` then also
  /// counts the updates of the epoch that was cut short, which has no record in `epochs`.
  bool cancelled = false;
};

/// A Next tells fit() whether to go on with the training. A callback returns it. Next::stop ends
/// the training for good, also for a fit() that goes on from one of its checkpoints; the stop token
/// of fit() interrupts it.
enum class Next : std::uint8_t { go_on, stop };

/// A FitCallback is a group of functions that fit() calls. An empty function is not called. What a
/// function throws ends the training and reaches the caller of fit().
struct FitCallback {
  /// `set_model` is called before all other functions, with a handle of the model that is trained.
  /// The function may copy the handle, and may read and set the weights through it.
  std::function<void(const Model& model)> set_model = {};
  /// `set_training_model` is called after all functions `set_model` and before the others, with the
  /// training model that fit() calls. The function may keep the reference, which is valid until
  /// fit() ends. This function, and the others of the callback, may make calls of the model through
  /// it, on the thread of fit().
  std::function<void(TrainingModel& training)> set_training_model = {};
  /// `set_data` is called after all functions `set_training_model` and before all others, with the
  /// data whose batches the steps take. The function may keep the reference, which is valid until
  /// fit() ends. named_fields() names the tensors of a batch for TrainingModel::step().
  std::function<void(const DataLoader& data)> set_data = {};
  /// `on_fit_begin` is called before the first epoch with the names that EpochRecord::values will
  /// have.
  std::function<void(const std::vector<std::string>& names)> on_fit_begin = {};
  /// `on_epoch_begin` is called before each epoch. The epoch will have `steps` steps; 0 means that
  /// the data do not say how many.
  std::function<void(int epoch, std::int64_t steps)> on_epoch_begin = {};
  /// `on_step_begin` is called before each step with the batch that the step will take.
  std::function<void(const Batch& batch)> on_step_begin = {};
  /// `on_step_end` is called after each step with what the step has returned.
  std::function<Next(const StepRecord& record, const StepResult& result)> on_step_end = {};
  /// `on_epoch_end` is called after each epoch and its evaluation, even if on_step_end has ended
  /// the epoch early.
  std::function<Next(const EpochRecord& record)> on_epoch_end = {};
  /// `on_fit_end` is called after the last epoch, unless the training was cancelled or has failed.
  std::function<void(const History& history)> on_fit_end = {};
  /// `state_name` is the name under which a checkpoint has what `save_state` returns. The callbacks
  /// that have a state have different names.
  std::string state_name = {};
  /// `save_state` is called between two steps, or after the end of an epoch, if fit() saves a
  /// checkpoint. It returns all that the callback needs to go on as if it had not been interrupted.
  std::function<SavedState()> save_state = {};
  /// `load_state` is called after all functions `on_fit_begin`, and before the first epoch, if
  /// fit() goes on from a checkpoint. It is set if `save_state` is.
  std::function<void(const SavedState& state)> load_state = {};
};

/// FitCheckpoints say when fit() saves the training, and from where fit() goes on.
struct FitCheckpoints {
  /// `save` is called with a checkpoint between two steps: after each step in which the number of
  /// updates has passed a multiple of `every_updates`, if the host has asked for a stop, and when
  /// the training is over. If all epochs are done or a callback has returned Next::stop, the last
  /// checkpoint is made after the end of the last epoch, with that epoch in the callbacks' states.
  /// If `max_updates` are done, it is made before the end of the epoch, which a training with a
  /// larger `max_updates` takes further, and before a step that `max_updates` would cut short,
  /// because the rest of that step's batch would be lost. CheckpointDirectory::save() is a function
  /// for `save`. If `save` is empty, no checkpoint is made.
  std::function<void(Checkpoint checkpoint)> save = {};
  std::int64_t every_updates = 1000;  ///< `every_updates` is 1 or more.
  /// fit() goes on from this checkpoint, which an earlier fit() has saved, and ends as that fit()
  /// would have ended: with the same weights, the same values in every record, and the same
  /// History, except for times. The host makes the models, the loaders, the metrics and the
  /// callbacks as for the first fit(), on any topology, and lets none of the loaders begin an epoch
  /// before. fit() begins with restore_checkpoint(), calls `on_epoch_begin` for the epoch that goes
  /// on, and counts epochs, steps and updates on. A training that a callback has ended with
  /// Next::stop ends again at once, even if it has more epochs now. If the pointer is null, the
  /// training begins.
  const Checkpoint* resume = nullptr;
};

/// FitOptions say how long fit() trains, what fit() measures, and which functions it calls.
struct FitOptions {
  int epochs = 1;  ///< The training takes this many epochs.
  /// An epoch takes this many steps. If the data end before, they begin again; if they have not
  /// ended, the next epoch goes on with them. If the field is not set, an epoch of the training is
  /// an epoch of the data.
  std::optional<std::int64_t> steps_per_epoch = {};
  /// The training ends after this many updates at the latest, if need be with a shorter last step.
  /// If the field is not set, the number of updates has no limit.
  std::optional<std::int64_t> max_updates = {};
  /// `metrics` has the metrics whose values are in every record. In the training, a metric sees
  /// what a step returns, which OutputOptions::mode decides; with OutputMode::all the metric sees
  /// every sample.
  std::vector<Metric> metrics = {};
  /// `validation_model` is evaluated on `validation_data`, by the same metrics, at the end of each
  /// epoch. Either both fields are set or neither, and with them there is at least one metric.
  InferenceModel* validation_model = nullptr;
  /// `validation_data` gives the samples of the evaluation.
  DataLoader* validation_data = nullptr;
  /// `callbacks` has the callbacks in the order in which they are called.
  std::vector<FitCallback> callbacks = {};
  /// `checkpoints` says when the training is saved, and from where it goes on.
  FitCheckpoints checkpoints = {};
};

/// Trains on batches of `data`. Each batch is for one step, and so has Options::samples_per_step()
/// samples; only an epoch's last batch, or a batch sampler's batches, may have fewer. If the fields
/// of the data have the names of all inputs of the model (Field::name), the model takes them by
/// name. Else the first fields are the model's inputs, in their order. Further fields are for the
/// metrics, which are given batches as the loader makes them.
/// The loss of a training is the mean over all samples (StepResult::mean_loss), whatever the output
/// mode returns, and a metric named "loss" counts in the evaluation only. What DataLoader::note()
/// says is logged once, as a warning if samples are left out.
/// @throws Error invalid_argument, before the training begins, for fields whose names contradict
/// their places: if some inputs, but not all, are names of fields, and one of these fields is not
/// in the input's place; or if two fields that are not named as inputs have one type and are in the
/// places of inputs, so that nobody would notice if they were exchanged; or if two fields have the
/// name of one input. Fields without names fit.
/// @throws Error invalid_argument, before the training begins, for options or batch sizes that do
/// not fit the model, and for a shorter step or run that is certain to come and that a model
/// refuses (static_shapes, an output mode). A step counts as certain only if no callback can stop
/// the training before it. What a metric's check throws passes through, for the model and for the
/// validation model.
/// @throws Error afterwards as TrainingModel::step(), DataLoader::next() and evaluate() do, and
/// invalid_data for an epoch without a batch. What a metric's score or state throws passes through;
/// the first step is scored when it has returned. The model keeps the weights that it had been
/// trained to, and TrainingModel::updates() counts the updates.
///
/// If FitCheckpoints::save is set, a step is never cut short: once `stop` is requested, fit() ends
/// the step that is under way with all its metrics and callbacks, saves a checkpoint, and returns a
/// History that is marked as cancelled. An evaluation that is cut short is made anew by the fit()
/// that goes on. If the stop comes while the streams of an iterable dataset are read up to the
/// position of FitCheckpoints::resume, the model has not changed, and the next fit() goes on from
/// the same checkpoint with new loaders.
/// @throws Error invalid_argument, before the training begins, if two callbacks save a state under
/// one name, or if FitCheckpoints::resume has no state of one of the callbacks or was made with
/// other metrics; unsupported for a metric that cannot be saved; and as restore_checkpoint(). What
/// FitCheckpoints::save, FitCallback::save_state and FitCallback::load_state throw passes through.
///
/// Once `stop` is requested, fit() ends after the updates that have begun, calls no function of the
/// host's any more except the log, and returns a History that is marked as cancelled; the model
/// keeps the weights that it has. A stop that comes after the end of the last epoch cancels
/// nothing, and fit() still calls on_fit_end. If the stop comes during an epoch's evaluation,
/// `History::epochs` has no record of that epoch.
///
/// fit(), evaluate() and predict() each count as one call of the model from beginning to end, so
/// calls from other threads are refused meanwhile. A function of the host's that they call may
/// destroy the models; the loop then goes on with the models to its own end. The loaders have to
/// live until then.
History fit(TrainingModel& model, DataLoader& data, const FitOptions& options = {},
            std::stop_token stop = {});

/// An Evaluation says what an evaluation has measured. evaluate() returns it.
struct Evaluation {
  std::vector<NamedValue> values = {};  ///< `values` has the metrics in their order.
  /// `samples_per_second` is the number of samples divided by the seconds from the first call of
  /// the model to the return of the last one.
  double samples_per_second = 0;
  std::int64_t samples = 0;  ///< The metrics count this many samples.
  /// The loader left out this many samples because they fill no batch
  /// (DataLoader::dropped_samples()). DataLoaderOptions::drop_last = false makes it 0.
  std::int64_t left_out = 0;
};

/// Returns the metrics over one epoch of `data`, whose last batch may be shorter. The model finds
/// its inputs among the fields of the data in one of three ways. If the names of the fields include
/// all of InferenceModel::inputs(), the model takes the fields of these names. Else, if a batch has
/// at least as many fields as InferenceModel::training_inputs() has names, its first fields are
/// those training inputs, as in fit(), and the model takes its own inputs from among them. Else the
/// first fields are the model's inputs in their order. Batches may have any size, such as that of a
/// training step: the model runs on InferenceModel::samples_per_run() samples at a time, and each
/// metric counts the samples after each run. `on_batch` is called after each batch.
/// DataLoader::note() is logged as by fit().
/// @throws Error as InferenceModel::run() and DataLoader::next(); invalid_data for an epoch without
/// a batch; cancelled once `stop` is requested, unless all samples have been run.
/// @throws Error invalid_argument before the first run if a batch's fields do not fit, or
/// contradict their places as fit() says, if the last samples are known to make no run, or if a
/// metric's output does not exist. What a metric's check throws passes through.
Evaluation evaluate(InferenceModel& model, DataLoader& data, const std::vector<Metric>& metrics,
                    const std::function<void()>& on_batch = {}, std::stop_token stop = {});

/// Returns the outputs for one epoch of `data`, each of shape [samples,...] in the order of the
/// samples. Every output must have a row per sample, and the model must return all of them
/// (OutputMode::all, which is what inference does by default). An output that is computed from a
/// loss, such as a validation loss, is left out unless it has a row per sample and all of its
/// inputs are there. Inputs that only such outputs need (labels, targets) may be missing, and these
/// outputs are then left out. They are missing if the names of the fields include all other inputs
/// and none of them, whatever further fields there are; failing that, if the data have fewer fields
/// than the model has inputs. DataLoader::note() is logged as by fit(); the samples that it counts
/// have no row.
/// @throws Error as evaluate(); shape_mismatch if an output has no row per sample; invalid_argument
/// if replicas share their inputs.
std::vector<NamedTensor> predict(InferenceModel& model, DataLoader& data,
                                 std::stop_token stop = {});
/// Calls `on_outputs` for one batch of an epoch of `data` after the other, with what the first
/// predict() returns for the samples of the batch, until the function returns Next::stop. Returns
/// the number of samples for which it was called. Samples that come without an end, such as those
/// of a socket, are predicted with the memory of one batch; their batches come in the loader's
/// order.
/// @throws Error as the first predict(), and what `on_outputs` throws. The outputs that were handed
/// out before stay the host's. @throws Error invalid_argument before the first run if `on_outputs`
/// is empty.
std::int64_t predict_batches(
    InferenceModel& model, DataLoader& data,
    const std::function<Next(const std::vector<NamedTensor>& outputs)>& on_outputs,
    std::stop_token stop = {});
/// Returns the outputs for all samples of `dataset`, in the order of its only worker's stream. The
/// last run takes the samples that are left. @throws Error as the first predict(), and as the
/// constructor of a DataLoader.
std::vector<NamedTensor> predict(InferenceModel& model,
                                 std::shared_ptr<const IterableDataset> dataset,
                                 std::stop_token stop = {});
/// Returns the outputs for any number of samples in the caller's own arrays. `inputs` has one
/// tensor for each of InferenceModel::inputs(), in that order. The inputs that only losses need may
/// be left out, all of them together.
std::vector<NamedTensor> predict(InferenceModel& model, const std::vector<Tensor>& inputs,
                                 std::stop_token stop = {});

/// Returns the tensors of `batch`, which is a batch of `data`, with the names of its fields, for
/// TrainingModel::step() and InferenceModel::run(), which take inputs by name in any order. @throws
/// Error invalid_argument if the batch has not one tensor for each field.
std::vector<NamedTensor> named_fields(const DataLoader& data, const Batch& batch);

/// An EarlyStopping says when to end a training that no longer gets better.
struct EarlyStopping {
  /// `monitor` is the name of the value in EpochRecord::values that is watched. "val_loss" exists
  /// if the loss is an output and mean_of("loss") is a metric, or if a metric of the host's own has
  /// the name "loss".
  std::string monitor = "val_loss";
  /// `higher_is_better` says whether a higher value is better, as with an accuracy.
  bool higher_is_better = false;
  double min_delta = 0;  ///< A gain that is not greater than this counts as none.
  /// This many epochs in a row may pass without a gain. A value of nan is no gain.
  int patience = 0;
  /// `restore_best_weights` says whether fit() ends with the weights and buffers of the best epoch,
  /// which is the last one that was a gain, instead of those of the last epoch. As in Keras, the
  /// default is false, because the state of the optimizer stays that of the last epoch and does not
  /// belong to the best weights: a training that is to be continued should go on from the last
  /// weights. Each gain costs a copy of the weights. A training that is cancelled, fails or never
  /// gains keeps the weights that it has.
  bool restore_best_weights = false;
};
/// Returns a callback that ends a training as `rule` says. The callback serves one training at a
/// time, and copies of the callback share its state. In every training, unless it goes on from a
/// checkpoint, the callback begins anew to count the epochs without a gain. Its on_fit_begin throws
/// Error invalid_argument if no value will have the name `rule.monitor`. @throws Error
/// invalid_argument for a negative number, for a `rule.min_delta` that is not finite, or for an
/// empty name.
FitCallback early_stopping(const EarlyStopping& rule);

}  // namespace penstock
