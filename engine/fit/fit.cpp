#include "penstock/fit.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/fit/announced_steps.hpp"
#include "engine/fit/callback_states.hpp"
#include "engine/fit/check_fit.hpp"
#include "engine/fit/evaluate.hpp"
#include "engine/fit/field_match.hpp"
#include "engine/fit/fields.hpp"
#include "engine/fit/fit_progress.hpp"
#include "engine/fit/hosts_error.hpp"
#include "engine/fit/scores.hpp"
#include "engine/model/model_access.hpp"
#include "engine/names/known_names.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"
#include "penstock/checkpoint.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

Batch first_rows(Batch batch, std::int64_t count) {
  for (Tensor& tensor : batch) tensor = tensor.rows(0, count);
  return batch;
}

/// FitModels are handles of fit()'s own, because the host's functions may destroy the host's
/// handles.
struct FitModels {
  FitModels(const TrainingModel& model, const InferenceModel* validation_model)
      : training(ModelAccess::handle(model)) {
    if (validation_model) validation.emplace(ModelAccess::handle(*validation_model));
  }
  TrainingModel training;
  std::optional<InferenceModel> validation;
};

class Fitting {
 public:
  /// Makes a training that goes on from `progress`, which the models and the loader have come to.
  Fitting(FitModels& models, DataLoader& data, const FitOptions& options, FitProgress progress,
          std::stop_token stop)
      : model_(models.training),
        data_(data),
        fields_("fit: data", model_.inputs(), data.fields()),
        validation_model_(models.validation),
        first_update_(model_.updates() - progress.updates),
        options_(options),
        names_(value_names(options)),
        stop_(std::move(stop)),
        step_stop_(options.checkpoints.save ? std::stop_token() : stop_),
        note_(model_),
        validation_note_(validation_model_ ? LoaderNote(*validation_model_) : LoaderNote(model_)),
        per_update_(model_.options().samples_per_step() / model_.options().device_iterations),
        saved_at_(progress.updates),
        stopped_(progress.stopped),
        progress_(std::move(progress)) {
    if (validation_model_)
      validation_fields_.emplace(*validation_model_, options.validation_data->fields(),
                                 model_.inputs());
  }

  History run() {
    const Model trained = ModelAccess::trained(model_);
    each_callback([&](const FitCallback& callback) {
      if (callback.set_model) callback.set_model(trained);
    });
    each_callback([&](const FitCallback& callback) {
      if (callback.set_training_model) callback.set_training_model(model_);
    });
    each_callback([&](const FitCallback& callback) {
      if (callback.set_data) callback.set_data(data_);
    });
    each_callback([&](const FitCallback& callback) {
      if (callback.on_fit_begin) callback.on_fit_begin(names_);
    });
    go_on();
    // An epoch that goes on may have nothing left but its end, which comes even after all updates.
    for (int epoch = progress_.epoch.epoch; epoch <= options_.epochs; ++epoch) {
      if (!goes_on(epoch) && finished()) {
        if (history_.cancelled && updates() != saved_at_) save_between(epoch);
        break;
      }
      run_epoch(epoch);
    }
    history_.updates = updates();
    if (samples_ > 0) history_.samples_per_second = static_cast<double>(samples_) / seconds_;
    end_fit();
    return std::move(history_);
  }

 private:
  std::uint64_t updates() const { return model_.updates() - first_update_; }
  std::int64_t updates_left() const {
    return options_.max_updates.value_or(std::numeric_limits<std::int64_t>::max()) -
           static_cast<std::int64_t>(updates());
  }
  /// Returns whether the host has asked for a stop. Once it has, none of its functions is called.
  bool cancelled() {
    history_.cancelled |= stop_.stop_requested();
    return history_.cancelled;
  }
  /// Returns whether the training is over. A stop that is requested when all updates are done
  /// cancels nothing.
  bool finished() { return stopped_ || updates_left() <= 0 || cancelled(); }

  /// Returns whether a stop that the host has asked for ends the step that is under way. If
  /// checkpoints are saved, a step goes on to its end.
  bool cuts_step() { return step_stop_.stop_possible() && cancelled(); }

  /// Calls `tell` with one callback after the other until the host's stop ends the step.
  void each_callback(const auto& tell) {
    for (const FitCallback& callback : options_.callbacks)
      if (!cuts_step()) call_host([&] { tell(callback); });
  }

  /// Lets the callbacks and the evaluation go on from where the checkpoint was made, if there is
  /// one.
  void go_on() {
    if (!options_.checkpoints.resume) return;
    load_states(options_.callbacks, *options_.checkpoints.resume);
    if (validation_model_) options_.validation_data->skip_epochs(progress_.epochs.size());
    for (const EpochRecord& epoch : progress_.epochs)
      history_.waited_seconds += epoch.waited_seconds;
    history_.epochs = progress_.epochs;
    taken_ = data_.position().batches;
  }
  /// Returns whether `epoch` is the epoch that was under way when the checkpoint was made.
  bool goes_on(int epoch) const { return progress_.begun && epoch == progress_.epoch.epoch; }

  /// Tells every callback that the training has ended, unless it was cancelled. A stop that is
  /// requested meanwhile cancels nothing.
  void end_fit() {
    if (history_.cancelled) return;
    for (const FitCallback& callback : options_.callbacks)
      if (callback.on_fit_end) call_host([&] { callback.on_fit_end(history_); });
  }

  /// Returns what `call` returns, or nothing if the host's stop token has cancelled the call.
  /// `call` is to pass that token on.
  auto unless_cancelled(const auto& call) -> std::optional<decltype(call())> {
    try {
      if (!cancelled()) return call();
    } catch (const Error& error) {
      const bool is_stop = error.code() == Errc::cancelled && stop_.stop_requested();
      if (!is_stop || is_of_host(error)) throw;
    }
    history_.cancelled = true;
    return std::nullopt;
  }

  void run_epoch(int epoch) {
    const bool is_resumed = goes_on(epoch);
    EpochRecord record = is_resumed ? progress_.epoch : EpochRecord{.epoch = epoch};
    if (!is_resumed && (epoch == 1 || !options_.steps_per_epoch)) start_data();
    const std::int64_t steps = announced_steps(record.steps);
    each_callback([&](const FitCallback& callback) {
      if (callback.on_epoch_begin) callback.on_epoch_begin(epoch, steps);
    });
    Scores scores(options_.metrics, true);
    if (is_resumed) scores.load(progress_.scores);
    const double waited = data_.waited_seconds() - record.waited_seconds;
    const double seconds_before = record.seconds;
    const Stopwatch watch;
    const auto note_times = [&] {
      record.seconds = seconds_before + watch.seconds();
      record.waited_seconds = data_.waited_seconds() - waited;
    };
    // A training that goes on from a checkpoint may have taken more steps than the epoch now has.
    const auto has_steps = [&] {
      return !options_.steps_per_epoch || record.steps < *options_.steps_per_epoch;
    };
    while (!finished() && has_steps()) {
      if (may_cut()) save(record, scores);
      if (!run_step(record, scores)) break;
      note_times();
      if (is_due()) save(record, scores);
    }
    if (record.steps == 0 && !finished()) refuse_empty("fit");
    note_times();
    // A training with a larger `max_updates` goes on inside of this epoch, so that the checkpoint
    // is made before the epoch's end.
    const bool is_out_of_updates = updates_left() <= 0;
    if (cancelled() || is_out_of_updates) save(record, scores);
    if (history_.cancelled) return;
    note_.tell(data_);
    if (!end_epoch(record, scores)) return save(record, scores);
    history_.waited_seconds += record.waited_seconds;
    if (is_out_of_updates) return;
    if (epoch == options_.epochs || stopped_) save_between(epoch + 1);
  }

  /// Returns whether a checkpoint can be made now. After a step that `max_updates` has cut short it
  /// cannot, because the rest of the step's batch would be lost to a training that goes on.
  bool may_save() const { return options_.checkpoints.save && !is_cut_; }

  /// Returns whether `max_updates` may cut the next step short.
  bool may_cut() const { return updates_left() < updates_of(data_.samples_per_batch()); }

  /// Returns whether a checkpoint is due after the step that has just ended.
  bool is_due() const {
    const auto every = static_cast<std::uint64_t>(options_.checkpoints.every_updates);
    return may_save() && updates() / every > saved_at_ / every;
  }

  /// Saves the training in the middle of the epoch `record`, unless it was saved after the same
  /// update already.
  void save(const EpochRecord& record, const Scores& scores) {
    if (may_save() && updates() != saved_at_)
      save({.epoch = record, .begun = true, .scores = scores.save(), .epochs = history_.epochs});
  }

  /// Saves the training before epoch `next`, whose data have not begun. A training that is over has
  /// no such epoch, unless it goes on for more epochs.
  void save_between(int next) {
    if (!may_save()) return;
    save({.epoch = {.epoch = next},
          .scores = Scores(options_.metrics, true).save(),
          .epochs = history_.epochs});
  }

  void save(FitProgress progress) {
    saved_at_ = progress.updates = updates();
    progress.stopped = stopped_;
    Checkpoint checkpoint = make_checkpoint(model_, data_);
    checkpoint.states[fit_state_name] = saved(progress, names_);
    save_states(options_.callbacks, checkpoint);
    call_host([&] { options_.checkpoints.save(std::move(checkpoint)); });
  }

  /// Returns how many steps the epoch, which has had `done` of them, will have if no callback ends
  /// it; 0 if that is unknown.
  std::int64_t announced_steps(std::int64_t done) const {
    const std::int64_t most = options_.steps_per_epoch.value_or(data_.batches());
    if (!options_.max_updates) return most;
    const UpdatesOfData data{data_.batches(), updates_of(data_.samples_per_batch()),
                             updates_of(data_.last_batch_samples()), taken_};
    return done + penstock::announced_steps(data, updates_left(), most - done);
  }

  std::int64_t updates_of(std::int64_t samples) const {
    return samples / per_update_ + (samples % per_update_ != 0);
  }

  /// Takes a step. Returns false if the data have no batch for it, or if the host has asked for a
  /// stop.
  bool run_step(EpochRecord& epoch, Scores& scores) {
    const Stopwatch asking;
    std::optional<std::optional<Batch>> batch = unless_cancelled([&] { return next_batch(); });
    if (!batch || !*batch) return false;
    const Batch used = shortened(std::move(**batch));
    double seconds = asking.seconds();
    each_callback([&](const FitCallback& callback) {
      if (callback.on_step_begin) callback.on_step_begin(used);
    });
    const Stopwatch step;
    const std::optional<StepResult> trained_on = trained(used);
    if (!trained_on || cuts_step()) return false;
    const StepResult& result = *trained_on;
    seconds += step.seconds();
    epoch.updates = updates();
    ++epoch.steps;
    Scores of_step(options_.metrics, true);
    if (!of_step.add(result, used, step_stop_) || !scores.merge(of_step, step_stop_)) return false;
    tell_step(epoch, result, of_step, static_cast<double>(used.front().shape()[0]) / seconds);
    return true;
  }

  void start_data() {
    note_.tell(data_);
    data_.start_epoch();
    taken_ = 0;
  }

  std::optional<Batch> next_batch() {
    std::optional<Batch> batch = data_.next(stop_);
    if (!batch && options_.steps_per_epoch && !cancelled()) {
      start_data();
      if (!(batch = data_.next(stop_))) refuse_empty("fit");
    }
    ++taken_;
    return batch;
  }

  Batch shortened(Batch batch) {
    const std::int64_t allowed = updates_left();
    if (updates_of(batch.front().shape()[0]) <= allowed) return batch;
    is_cut_ = true;
    return first_rows(std::move(batch), allowed * per_update_);
  }

  std::optional<StepResult> trained(const Batch& batch) {
    if (!first_step_) first_step_.emplace();
    const auto step = [&] { return model_.step(fields_.of(batch), step_stop_); };
    std::optional<StepResult> result =
        step_stop_.stop_possible() ? unless_cancelled(step) : std::optional(step());
    if (!result) return result;
    seconds_ = first_step_->seconds() - evaluating_seconds_;
    samples_ += batch.front().shape()[0];
    return result;
  }

  void tell_step(const EpochRecord& epoch, const StepResult& result, const Scores& scores,
                 double samples_per_second) {
    if (options_.callbacks.empty()) return;
    std::optional<std::vector<NamedValue>> values = scores.values(step_stop_);
    if (!values) return;
    const StepRecord record{.epoch = epoch.epoch,
                            .step = epoch.steps,
                            .updates = epoch.updates,
                            .values = *std::move(values),
                            .samples_per_second = samples_per_second};
    each_callback([&](const FitCallback& callback) {
      if (callback.on_step_end) stopped_ |= callback.on_step_end(record, result) == Next::stop;
    });
  }

  /// Ends an epoch. Returns false if a stop has kept the epoch from its end.
  bool end_epoch(EpochRecord record, const Scores& scores) {
    std::optional<std::vector<NamedValue>> values = scores.values(step_stop_);
    if (!values) {
      history_.cancelled = true;
      return false;
    }
    record.values = *std::move(values);
    if (validation_model_) {
      const Stopwatch watch;
      const std::optional<Evaluation> validation = unless_cancelled([&] {
        return evaluate_once(*validation_model_, *options_.validation_data, *validation_fields_,
                             options_.metrics, validation_note_, {}, stop_);
      });
      if (!validation) return false;
      record.validation_samples = validation->samples;
      record.validation_left_out = validation->left_out;
      for (const NamedValue& value : validation->values)
        record.values.push_back({"val_" + value.name, value.value});
      evaluating_seconds_ += watch.seconds();
    }
    each_callback([&](const FitCallback& callback) {
      if (callback.on_epoch_end) stopped_ |= callback.on_epoch_end(record) == Next::stop;
    });
    history_.epochs.push_back(std::move(record));
    return true;
  }

  TrainingModel& model_;
  DataLoader& data_;
  const FieldMatch fields_;
  std::optional<InferenceModel>& validation_model_;
  const std::uint64_t first_update_;
  const FitOptions& options_;
  const std::vector<std::string> names_;  // `names_` has the names of the values in each record.
  const std::stop_token stop_;
  // `step_stop_` is what ends a step before its end. If checkpoints are saved, nothing does.
  const std::stop_token step_stop_;
  LoaderNote note_, validation_note_;
  std::optional<InferenceFields> validation_fields_;
  const std::int64_t per_update_;  // `per_update_` is the number of samples of an update.
  std::uint64_t saved_at_;         // The last checkpoint was made after this many updates.
  bool stopped_;                   // `stopped_` says whether a callback has ended the training.
  FitProgress progress_;           // `progress_` is where this training goes on.
  // `taken_` is the number of batches that were taken in the data's present epoch.
  std::int64_t taken_ = 0;
  std::int64_t samples_ = 0;
  bool is_cut_ = false;  // `is_cut_` says whether `max_updates` has cut the last step short.
  std::optional<Stopwatch> first_step_;
  // `seconds_` is the time from the call of the first step to the return of the last one, without
  // evaluations.
  double seconds_ = 0;
  double evaluating_seconds_ = 0;
  History history_;
};

/// Returns the progress from which a training goes on, which is the beginning if there is no
/// checkpoint.
FitProgress saved_progress(const FitOptions& options) {
  const Checkpoint* const checkpoint = options.checkpoints.resume;
  if (!checkpoint) return {};
  const auto state = checkpoint->states.find(fit_state_name);
  if (state == checkpoint->states.end())
    throw Error(Errc::invalid_argument,
                "fit: checkpoints.resume: expected a checkpoint that fit() has made, got another");
  check_states(options.callbacks, *checkpoint);
  return progress_in(state->second, value_names(options));
}

/// Lets the model and the loader go on from the checkpoint, if there is one. Returns false if a
/// stop has kept the loader from its position.
bool restored(TrainingModel& model, DataLoader& data, const FitOptions& options,
              const std::stop_token& stop) try {
  if (options.checkpoints.resume)
    restore_checkpoint(*options.checkpoints.resume, model, data, stop);
  return true;
} catch (const Error& error) {
  const bool is_stop = error.code() == Errc::cancelled && stop.stop_requested();
  if (!is_stop || is_of_host(error)) throw;
  return false;
}

}  // namespace

double value_of(const std::vector<NamedValue>& values, const std::string& name) {
  for (const NamedValue& value : values)
    if (value.name == name) return value.value;
  return or_out_of_memory("value_of", [&]() -> double {
    throw Error(Errc::invalid_argument, "there is no value named " + quoted_text(name) +
                                            instead_of(name, values, &NamedValue::name));
  });
}

History fit(TrainingModel& model, DataLoader& data, const FitOptions& options,
            std::stop_token stop) {
  return or_out_of_memory("fit", [&] {
    const auto calls = ModelAccess::calls(model);
    const ModelCall call(*calls, "fit");
    FitModels models(model, options.validation_model);
    check_fit(models.training, models.validation ? &*models.validation : nullptr, data, options,
              stop);
    FitProgress progress = saved_progress(options);
    if (!restored(models.training, data, options, stop))
      return History{.epochs = progress.epochs, .updates = progress.updates, .cancelled = true};
    return Fitting(models, data, options, std::move(progress), std::move(stop)).run();
  });
}

}  // namespace penstock
