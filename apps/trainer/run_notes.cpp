#include "apps/trainer/run_notes.hpp"

#include <algorithm>
#include <csignal>

#include "apps/trainer/options/option_spelling.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/output/decimal_text.hpp"
#include "apps/trainer/output/outputs.hpp"

namespace trainer {

std::string percent(double fraction) {
  return decimal_text(100 * fraction, 2) + '%';
}

std::string describe(const StepMetrics& step) {
  const std::string loss = "Loss:" + decimal_text(step.loss, 4);
  return step.accuracy ? loss + " | Accuracy:" + percent(*step.accuracy) : loss;
}

std::string step_size(const penstock::Options& options) {
  return "--batch-size " + std::to_string(options.batch_size) + " x --gradient-accumulation " +
         std::to_string(options.training.gradient_accumulation) + " x --device-iterations " +
         std::to_string(options.device_iterations) + " x --replication-factor " +
         std::to_string(options.topology.replication_factor);
}

std::string describe_step(const penstock::Options& options, const Task& task) {
  const penstock::CallSize step = penstock::size_of_step(options);
  return "Each step: " + task.sample_name + "s " + std::to_string(step.samples()) + " (" +
         step_size(options) + "), micro-batches " + std::to_string(step.micro_batches()) +
         ", weight updates " + std::to_string(step.updates());
}

void note_dropped(const penstock::DataLoader& loader, const Task& task) {
  if (loader.dropped_samples() == 0 || task.draws_samples) return;
  print_note("each epoch leaves out " + std::to_string(loader.dropped_samples()) + " of " +
             std::to_string(task.train->size()) + " training " + task.sample_name +
             "s, which fill no step of " + std::to_string(loader.samples_per_batch()));
}

void note_report(const penstock::CompileReport& report) {
  if (report.automatic_stages) print_note("stages auto: " + penstock::describe_stages(report));
  for (const std::string& warning : report.warnings) print_note(with_option_names(warning));
}

namespace {

/// Returns a warning that compiling for inference gave, in the words of the command line. If it is
/// about the length of a call, it says that the test has these calls, and on which options the
/// length depends.
std::string about_test(const std::string& warning) {
  std::string text = with_option_names(warning);
  const std::string field = "(device iterations)";
  const std::size_t at = text.find(field);
  if (at == text.npos) return text;
  text.replace(at, field.size(), "(at most --device-iterations x --gradient-accumulation)");
  return "in the test: " + text;
}

}  // namespace

void note_more(const penstock::CompileReport& inference, const penstock::CompileReport& training) {
  for (const std::string& warning : inference.warnings)
    if (std::ranges::count(training.warnings, warning) == 0) print_note(about_test(warning));
}

void print_profile(const penstock::Profile& profile) {
  const std::string text = penstock::summary_of(profile);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    print_note("profile: " + with_option_names(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

namespace {

/// Returns whether steps of `now` samples, after as many as `checkpoint` has seen, take those
/// samples of each epoch that steps of its own size would take.
bool take_same_samples(const penstock::Checkpoint& checkpoint, std::int64_t now,
                       std::int64_t samples) {
  const std::int64_t before = checkpoint.samples_per_batch;
  if (before < 1 || before == now) return true;
  const bool ends_a_step = checkpoint.position.batches % now * (before % now) % now == 0;
  return ends_a_step && samples % before == samples % now;
}

}  // namespace

void note_other_steps(const penstock::Checkpoint& checkpoint, const penstock::Options& options,
                      std::int64_t samples) {
  const std::string result =
      ", and the weights may become others than those of a run that was never stopped";
  const penstock::Options saved = penstock::options_from_json(checkpoint.options);
  const int before = saved.topology.replication_factor, now = options.topology.replication_factor;
  const std::int64_t step = options.samples_per_step();
  if (before != now)
    print_note("--resume: --replication-factor was " + std::to_string(before) + " and is " +
               std::to_string(now) +
               ": each weight update takes another number of samples, all replicas begin with the "
               "batch-norm statistics of the first one" +
               result);
  else if (!take_same_samples(checkpoint, step, samples))
    print_note("--resume: a step had " + std::to_string(checkpoint.samples_per_batch) +
               " samples and has " + std::to_string(step) +
               ": other samples of an epoch are left out" + result);
}

void note_more_updates(std::uint64_t updates, std::optional<std::int64_t> max_updates) {
  if (max_updates && updates > static_cast<std::uint64_t>(*max_updates))
    print_note("--resume: the run has done " + std::to_string(updates) +
               " weight updates, more than --max-updates " + std::to_string(*max_updates) +
               "; it trains no further");
}

namespace {

std::string stopped_by(int signal) {
  return std::string("stopped by ") + (signal == SIGINT ? "SIGINT" : "SIGTERM");
}

}  // namespace

void note_interruption(int signal, std::uint64_t updates, std::optional<std::uint64_t> saved_at) {
  std::string text = stopped_by(signal) + " after " + std::to_string(updates) +
                     " weight updates; no file was replaced";
  if (saved_at)
    text += ", and --resume goes on from " +
            (*saved_at == updates ? "there" : "weight update " + std::to_string(*saved_at));
  print_note(text);
}

void note_interrupted_test(int signal, const std::string& kept) {
  print_note(stopped_by(signal) + " in the test, of which there is no result; " + kept);
}

std::string kept_text(const TrainerOptions& options) {
  std::vector<std::string> files, sentences;
  for (const RunFile& file : result_files(options.output)) files.push_back(file.option);
  if (files.size() == 1) sentences.push_back("the file of " + files[0] + " is in place");
  if (files.size() > 1) sentences.push_back("the files of " + joined(files) + " are in place");
  if (options.checkpoints.dir)
    sentences.emplace_back("--checkpoint-dir has a checkpoint of the whole training");
  else if (!options.output.save_weights && !options.output.save_onnx)
    sentences.emplace_back("the trained weights are lost, because there is no --save-weights");
  return joined(sentences, ", and ");
}

}  // namespace trainer
