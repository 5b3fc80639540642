// fit, evaluate and predict are the loops around a model, for whoever does not need one of his own.
// They run on the caller's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/metric.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// A NamedValue is a number of a training's records: the loss or a metric.
struct NamedValue {
  std::string name;  ///< This is "loss", or the name of a metric, which may have "val_" before it.
  double value = 0;  ///< This is nan if nothing was counted.
};
/// Returns the value called `name`. @throws Error invalid_argument if there is none.
double value_of(const std::vector<NamedValue>& values, const std::string& name);

/// Describes one call of TrainingModel::step().
struct StepRecord {
  int epoch = 1;              ///< Epochs are counted from 1.
  std::int64_t step = 1;      ///< Steps are counted from 1 in each epoch.
  std::uint64_t updates = 0;  ///< This training has done so many updates so far.
  /// They are what this step alone comes to: "loss", then the metrics.
  std::vector<NamedValue> values = {};
  /// The time is that of the wait for data and of step(), and of nothing else.
  double samples_per_second = 0;
};

/// Describes one epoch of fit().
struct EpochRecord {
  int epoch = 1;              ///< Epochs are counted from 1.
  std::int64_t steps = 0;     ///< This many calls of step() were made.
  std::uint64_t updates = 0;  ///< This training has done so many updates so far.
  /// They are means over the epoch: "loss", the metrics, and "val_" before the name of what was
  /// evaluated. A mean is nan if the output mode has returned nothing for it.
  std::vector<NamedValue> values = {};
  double seconds = 0;  ///< The evaluation is not part of them.
  /// The part of `seconds` spent waiting for data, as DataLoader::waited_seconds() counts it.
  double waited_seconds = 0;
  /// The evaluation counts so many samples, and leaves out so many, as in Evaluation.
  std::int64_t validation_samples = 0;
  std::int64_t validation_left_out = 0;  ///< These samples the evaluation left out.
};

/// Says what a training has done: fit() returns it.
struct History {
  std::vector<EpochRecord> epochs = {};  ///< Every epoch that came to its end has a record.
  std::uint64_t updates = 0;             ///< The training has done so many weight updates.
  /// It covers the first step's call to the last one's return, with loading, without evaluation.
  double samples_per_second = 0;
  double waited_seconds = 0;  ///< Data were waited for so long in all epochs.
  /// Says whether fit() was asked to stop, and did. `updates` counts those of the epoch that was
  /// cut short, too, which `epochs` does not have.
  bool cancelled = false;
};

/// Says whether a training goes on after what a callback was told.
enum class Next : std::uint8_t { go_on, stop };

/// The functions of a callback that are not empty are called. What they throw ends the training and
/// reaches its caller.
struct FitCallback {
  /// Is called before all else, with a handle of the model that is trained, which the callback may
  /// copy: it reads and sets the weights.
  std::function<void(const Model& model)> set_model = {};
  /// Is called before the first epoch, with the names that EpochRecord::values will have.
  std::function<void(const std::vector<std::string>& names)> on_fit_begin = {};
  /// `steps` is how many the epoch will have, or 0 if the data do not say.
  std::function<void(int epoch, std::int64_t steps)> on_epoch_begin = {};
  /// Is called before each step, with the batch that the step will take.
  std::function<void(const Batch& batch)> on_step_begin = {};
  /// Is called after each step, with what the step has returned.
  std::function<Next(const StepRecord& record, const StepResult& result)> on_step_end = {};
  /// Is called after the evaluation, and also if a step's callback has ended the epoch.
  std::function<Next(const EpochRecord& record)> on_epoch_end = {};
  /// Is called after the last epoch of a training that was not cancelled and has not failed.
  std::function<void(const History& history)> on_fit_end = {};
};

/// Says for how long fit() trains, what it measures, and whom it tells.
struct FitOptions {
  int epochs = 1;  ///< The training takes so many epochs.
  /// So many calls of step() make an epoch. Data that end before begin again, and data that have
  /// not ended go on. Without a number the data's own epochs count.
  std::optional<std::int64_t> steps_per_epoch = {};
  /// The training ends after these updates, if not before; its last step is shortened.
  std::optional<std::int64_t> max_updates = {};
  std::vector<Metric> metrics = {};  ///< Each of them is a value of every record.
  /// The model is evaluated on the data, by the same metrics, at the end of each epoch. Either both
  /// are given or neither.
  InferenceModel* validation_model = nullptr;
  DataLoader* validation_data = nullptr;    ///< This loader gives the samples of the evaluation.
  std::vector<FitCallback> callbacks = {};  ///< They are called in this order.
};

/// Trains on batches for one step each: of Options::samples_per_step() samples, but for an epoch's
/// last one, or a batch sampler's, which may be shorter. A batch's first fields are the model's
/// inputs, in their order; further ones are for the metrics. The loss is the mean over
/// all samples, from `StepResult::mean_loss`, whatever the output mode returns; a metric named
/// "loss" takes its place. What DataLoader::note() says is logged once, as a warning where samples
/// are left out.
/// @throws Error before anything has begun: invalid_argument, also for batches of other sizes and
/// for a shorter step or run that is known to come and that a model does not take (static_shapes,
/// an output mode), a step only if no callback can stop the training before it: in the first epoch
/// under an on_epoch_end, the first one under an on_step_end; and what a metric's check throws, for
/// the model or the one that is evaluated.
/// @throws afterwards what a metric's score throws, which is called after the first step at the
/// earliest; Error invalid_data for an epoch without a batch; as TrainingModel::step(),
/// DataLoader::next() and evaluate() do. The model keeps what it was trained to until then, and
/// TrainingModel::updates() counts that.
///
/// Once `stop` is asked to stop, fit() ends after the updates that have begun, calls nothing of the
/// host's any more but a log, and returns what was done, marked as cancelled; the model keeps what
/// it was trained to. A stop that comes when the last epoch is done cancels nothing, and fit()
/// still calls on_fit_end. Of an epoch in whose evaluation the stop came, `History::epochs` has
/// nothing.
///
/// fit(), evaluate() and predict() are calls of the model from their beginning to their end: other
/// threads' calls are refused meanwhile. A function of the host's that they call may destroy the
/// models, which they then go on with to their own end; the loaders have to live until then.
History fit(TrainingModel& model, DataLoader& data, const FitOptions& options = {},
            std::stop_token stop = {});

/// Says what an evaluation has measured: evaluate() returns it.
struct Evaluation {
  std::vector<NamedValue> values = {};  ///< They are the metrics, in their order.
  /// The time is that from the first call to the last one's return.
  double samples_per_second = 0;
  std::int64_t samples = 0;  ///< The metrics are of so many samples.
  /// The loader has left out so many samples, because they fill no batch: DataLoader::
  /// dropped_samples() at the end. DataLoaderOptions::drop_last = false makes it 0.
  std::int64_t left_out = 0;
};

/// Returns the metrics over one epoch of the data, whose last batch may be shorter. If the names of
/// the data's fields include all of InferenceModel::inputs(), the model takes these by name. Else
/// fields are as in fit(): a batch's first ones are InferenceModel::training_inputs(), of which the
/// model takes its own; or they are its own inputs alone, where a batch has no more fields. Batches
/// may be of any size, a training step's too: the model runs on InferenceModel::samples_per_run()
/// samples at a time, and a metric is asked after each run. `on_batch` is called after each batch.
/// DataLoader::note() is logged as by fit().
/// @throws Error as InferenceModel::run() and DataLoader::next(); invalid_data for an epoch without
/// a batch; invalid_argument, before the first run, if a batch's fields are neither, if it is known
/// to have samples that make no run, if a metric's output does not exist, and what else its check
/// throws; cancelled once `stop` is asked to stop, unless all is done.
Evaluation evaluate(InferenceModel& model, DataLoader& data, const std::vector<Metric>& metrics,
                    const std::function<void()>& on_batch = {}, std::stop_token stop = {});

/// Returns the outputs for one epoch of the data, each [samples,...] in the order of the samples.
/// The model's outputs must have a row per sample, and it must return all of them (OutputMode::all,
/// as inference does unless told otherwise). An output that is made of a loss, such as a validation
/// loss, is left out, unless it has a row per sample and all inputs are there. Inputs that only
/// such outputs need (labels, targets) may be missing; an output that needs them is then left out.
/// DataLoader::note() is logged as by fit(); what it counts has no row.
/// @throws Error as evaluate(); shape_mismatch if an output has no row per sample, invalid_argument
/// if replicas share their inputs.
std::vector<NamedTensor> predict(InferenceModel& model, DataLoader& data,
                                 std::stop_token stop = {});
/// Does so for any number of samples in the caller's own arrays, one tensor per input: either all
/// of InferenceModel::inputs(), or all but those that only losses need, in the same order.
std::vector<NamedTensor> predict(InferenceModel& model, const std::vector<Tensor>& inputs,
                                 std::stop_token stop = {});

/// Says when to end a training that does not get better.
struct EarlyStopping {
  /// This is a name of EpochRecord::values. "val_loss" is there if the loss is an output and
  /// mean_of("loss") a metric, or a metric of one's own has that name.
  std::string monitor = "val_loss";
  bool higher_is_better = false;  ///< An accuracy, for example, gets better by getting higher.
  double min_delta = 0;           ///< A gain that is not greater than this counts as none.
  /// So many epochs without a gain are let pass, one after the other; nan is no gain.
  int patience = 0;
  /// Says whether fit() ends with the weights and buffers of the best epoch, the last one that was
  /// a gain, rather than with those of the last epoch. As in Keras it is off unless asked for,
  /// because the best weights do not belong to the optimizer's state, which stays the last one: a
  /// training that goes on should go on from the last weights. Each gain then costs a copy of the
  /// weights. A training that is cancelled or fails keeps the weights that it has, and so does one
  /// without any gain.
  bool restore_best_weights = false;
};
/// Returns a callback, which serves one training at a time; its copies are that same callback. It
/// counts anew in every training. Its on_fit_begin throws Error invalid_argument if no value will
/// have the name `rule.monitor`.
/// @throws Error invalid_argument for a negative number or an empty name.
FitCallback early_stopping(const EarlyStopping& rule);

}  // namespace penstock
