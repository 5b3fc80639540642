#include "apps/trainer/run.hpp"

#include <cmath>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/trainer/continuation.hpp"
#include "apps/trainer/interruption.hpp"
#include "apps/trainer/options/configuration.hpp"
#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/idle_options.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/output/decimal_text.hpp"
#include "apps/trainer/peak_memory.hpp"
#include "apps/trainer/run_notes.hpp"
#include "apps/trainer/run_setup.hpp"
#include "penstock/error.hpp"

namespace trainer {

Run::Run(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported)
    : checkpoints_(options, imported ? imported->sha256 : ""),
      options_(checkpoints_.without_beginnings(options)),
      progress_(options_.output.no_progress
                    ? ProgressStream::silent()
                    : ProgressStream::standard_error(logs(options_.output))),
      task_(prepared_task(options_, imported, progress_)),
      training_options_(checked(training_options(options_), task_)),
      training_loader_(task_.train, training_options_, training_loader_options(options_)),
      inference_options_(inference_options(options_, task_.test->size())),
      test_loader_(task_.test, inference_options_, test_loader_options(options_)),
      first_update_(checkpoints_.resumed().first_update),
      training_(
          make_training(options_.pipeline, task_.model, training_options_, optimizer(), progress_)),
      inference_(make_inference(options_.pipeline, task_.model, inference_options_, progress_)),
      outputs_(options_.output, input_files(options_, task_), checkpoints_.is_on()) {
  check_prompt(task_, options_.continuation);
  if (options_.optimizer.init_state) go_on_from(*options_.optimizer.init_state);
  for (const std::string& note : task_.notes) print_note(note);
  for (const std::string& note : idle_options(options_)) print_note(note);
  note_dropped(training_loader_, task_);
  if (checkpoints_.checkpoint()) note_continuation(*checkpoints_.checkpoint());
  note_report(training_.compile_report());
  note_more(inference_.compile_report(), training_.compile_report());
}

/// Prints notes on how a run that goes on from `checkpoint` differs from the run that saved it.
void Run::note_continuation(const penstock::Checkpoint& checkpoint) const {
  const std::uint64_t done = checkpoint.updates - first_update_;
  note_more_updates(done, options_.training.max_updates);
  const std::optional<std::int64_t>& most = options_.training.max_updates;
  if (!most || done < static_cast<std::uint64_t>(*most))
    note_other_steps(checkpoint, training_options_, task_.train->size());
}

std::int64_t Run::updates() const {
  return run_updates(options_.training, training_loader_, training_options_);
}

penstock::Optimizer Run::optimizer() const {
  return scheduled_optimizer(options_, task_, static_cast<std::int64_t>(first_update_) + updates());
}

// A run that goes on may be longer than it was meant to be, which moves the end of its schedule.
penstock::FitCallback Run::state_callback() {
  penstock::FitCallback callback;
  callback.state_name = run_state_name;
  callback.save_state = [this] {
    return saved(RunState{configuration_text(options_), first_update_, outputs_.lines(),
                          checkpoints_.onnx_sha256()});
  };
  callback.load_state = [this](const penstock::SavedState& state) {
    outputs_.go_on_from(run_state(state).lines);
    training_.set_optimizer(optimizer());
  };
  return callback;
}

// The count of updates goes on from the number that the optimizer's state has seen. The schedule's
// end therefore moves by that number, and the run begins with a later epoch.
void Run::go_on_from(const std::string& optimizer_state) {
  of_option("--init-optimizer-state", [&] { training_.load_optimizer_state(optimizer_state); });
  first_update_ = training_.updates();
  const auto seen = static_cast<std::int64_t>(first_update_);
  training_.set_optimizer(optimizer());
  const std::string moved = moved_cosine(options_.learning_rate, seen, seen + updates());
  if (!moved.empty()) print_note(moved);

  const std::int64_t per_epoch = training_loader_.batches() * training_options_.device_iterations;
  const std::int64_t into_epoch = seen % per_epoch;
  training_loader_.skip_epochs(static_cast<std::uint64_t>(seen / per_epoch + (into_epoch > 0)));
  if (into_epoch > 0)
    print_note("--init-optimizer-state: the state is " + std::to_string(into_epoch) + " of " +
               std::to_string(per_epoch) +
               " updates into an epoch: training goes on with the next epoch");
}

int Run::execute(const std::function<void()>& on_first_step) {
  std::optional<Interruption> interruption(std::in_place);
  const penstock::History history = train(on_first_step, interruption->token());
  if (history.cancelled) {
    checkpoints_.wait();
    const std::optional<std::uint64_t> newest = checkpoints_.newest();
    note_interruption(interruption->signal(), history.updates,
                      newest ? std::optional(*newest - first_update_) : std::nullopt);
    return interruption->signal();
  }
  const auto [evaluation, failure] = test(interruption->token());
  const int signal = interruption->signal();
  interruption.reset();  // Nothing that is stopped from here on could be ended in better order.
  // The failure is told here, because a file that cannot be written would hide it.
  if (failure) print_note("the test has failed: " + std::string(failure->what()));
  for (const auto& [option, file] : {std::pair("--save-weights", options_.output.save_weights),
                                     std::pair("--save-onnx", options_.output.save_onnx)})
    if (file)
      check_finite(task_, std::string(option) + ": expected finite weights after training", remedy);
  outputs_.add_weights(task_.model, task_.normalization ? normalization_texts(*task_.normalization)
                                                        : std::map<std::string, std::string>());
  outputs_.add_optimizer_state(training_);
  std::optional<RunMetrics> run;
  if (evaluation) outputs_.add(run.emplace(summary(history, *evaluation)));
  outputs_.commit();
  if (options_.output.profile) write_profiles();
  if (!evaluation) {
    checkpoints_.wait();
    const std::string kept = kept_text(options_);
    if (failure) throw penstock::Error(failure->code(), "the test has failed; " + kept);
    note_interrupted_test(signal, kept);
    return signal;
  }
  // The result is printed last: if stdout cannot be written, the files of the finished training
  // are in place nevertheless.
  print_result(*run);
  checkpoints_.wait();
  return signal;
}

void Run::print_result(const RunMetrics& run) {
  if (run.test_accuracy) print("Accuracy on test set: " + percent(*run.test_accuracy) + '\n');
  if (run.validation_loss)
    print("Validation loss: " + decimal_text(*run.validation_loss, 4) + '\n');
  if (options_.continuation.sample)
    print(continue_text(inference_, task_, options_.continuation, options_.network.seed) + '\n');
}

void Run::add_events(penstock::Profile& profile, penstock::DataLoader& loader) {
  const std::vector<penstock::HostEvent> events = loader.take_trace();
  profile.host_events.insert(profile.host_events.end(), events.begin(), events.end());
}

// A training that is finished is not lost because its profile cannot be written.
void Run::write_profiles() try {
  RunProfiles profiles{training_.profile(), inference_.profile()};
  add_events(profiles.training, training_loader_);
  add_events(profiles.inference, test_loader_);
  outputs_.commit(profiles);
  print_profile(profiles.training);
} catch (const std::exception& error) {
  print_note(std::string("--profile: ") + error.what() + "; there is no new profile");
}

penstock::History Run::train(const std::function<void()>& on_first_step, std::stop_token stop) {
  progress_.write(describe_step(training_options_, task_) + '\n');
  std::optional<Progress> progress;
  penstock::FitCallback callback;
  callback.on_epoch_begin = [&](int epoch, std::int64_t steps) {
    progress.reset();
    // A language model ends after so many updates, mostly long before its last epoch.
    const std::string all = task_.vocabulary ? "" : '/' + std::to_string(options_.training.epochs);
    progress.emplace(progress_, "Epoch " + std::to_string(epoch) + all, steps,
                     training_loader_.position().batches);
  };
  std::int64_t step_samples = 0;
  callback.on_step_begin = [&](const penstock::Batch& batch) {
    step_samples = batch.front().shape()[0];
    if (!std::exchange(first_step_begun_, true)) on_first_step();
  };
  callback.on_step_end = [&](const penstock::StepRecord& record,
                             const penstock::StepResult& result) {
    StepMetrics metrics = step_metrics(record, result);
    metrics.samples = step_samples;
    metrics.learning_rate = training_.learning_rate();
    outputs_.add(metrics);
    progress->advance(describe(metrics));
    warn_of_loss(metrics, *progress);
    return penstock::Next::go_on;
  };
  callback.on_epoch_end = [&](const penstock::EpochRecord& epoch) {
    outputs_.add(epoch, idle_share(epoch.seconds));
    return penstock::Next::go_on;
  };
  return penstock::fit(training_, training_loader_,
                       {.epochs = options_.training.epochs,
                        .max_updates = options_.training.max_updates,
                        .metrics = task_.training_metrics,
                        .callbacks = {callback, state_callback()},
                        .checkpoints = checkpoints_.for_fit()},
                       std::move(stop));
}

double Run::idle_share(double seconds) {
  std::set<int> ipus;
  double busy = 0;
  for (const penstock::StageReport& stage : training_.stage_reports()) {
    ipus.insert(stage.ipu);
    busy += stage.busy_seconds;
  }
  const double before = std::exchange(busy_seconds_, busy);
  const double all = seconds * static_cast<double>(ipus.size());
  return all > 0 ? 1 - (busy - before) / all : 0;
}

void Run::warn_of_loss(const StepMetrics& step, Progress& progress) {
  if (warned_of_loss_ || std::isfinite(step.loss)) return;
  warned_of_loss_ = true;
  progress.make_room();
  print_note("the loss is not finite since epoch " + std::to_string(step.epoch) + ", step " +
             std::to_string(step.step) + remedy);
}

// A training that is finished is not lost because of a test file that cannot be read.
Run::TestOutcome Run::test(std::stop_token stop) try {
  Progress progress(progress_, "Test", test_loader_.batches());
  return {.evaluation = penstock::evaluate(
              inference_, test_loader_, task_.test_metrics, [&] { progress.advance(""); },
              std::move(stop))};
} catch (const penstock::Error& error) {
  if (error.code() == penstock::Errc::cancelled) return {};
  return {.failure = error};
} catch (const std::bad_alloc&) {
  return {.failure = penstock::Error(penstock::Errc::out_of_memory, "not enough memory")};
}

RunMetrics Run::summary(const penstock::History& history,
                        const penstock::Evaluation& evaluation) const {
  RunMetrics run;
  for (const penstock::CompileReport& report :
       {training_.compile_report(), inference_.compile_report()}) {
    run.compile_seconds += report.seconds;
    run.plans_from_cache += report.from_cache ? 1 : 0;
  }
  run.train_samples_per_second = history.samples_per_second;
  run.train_waited_seconds = history.waited_seconds;
  run.inference_samples_per_second = evaluation.samples_per_second;
  run.test_accuracy = find_value(evaluation.values, "accuracy");
  run.validation_loss = find_value(evaluation.values, "loss");
  if (task_.tokens_per_sample > 0)
    run.tokens_per_second =
        history.samples_per_second * static_cast<double>(task_.tokens_per_sample);
  run.peak_rss_bytes = peak_resident_bytes();
  run.stages = training_.stage_reports();
  return run;
}

}  // namespace trainer
