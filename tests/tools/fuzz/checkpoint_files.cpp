#include "tests/tools/fuzz/checkpoint_files.hpp"
#include "tests/engine/files/byte_reader.hpp"

#include <optional>
#include <utility>

#include "engine/checkpoint/checkpoint_content.hpp"
#include "penstock/penstock.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Trains two epochs of three steps with everything that keeps a state, and returns the checkpoint
/// that was made after the fourth step.
std::optional<Checkpoint> trained(const Checkpoint* resume) {
  Options options = options_for(2, 1, 1);
  options.topology.replication_factor = 2;
  options.topology.stages = parse_stages("B1,B2");
  options.output.mode = OutputMode::all;
  options.runtime = {.threads = 1, .monitor = false};
  const Model model = tied_model();
  TrainingModel training(model, options, AdamW{});
  DataLoader data(tensor_dataset(samples(12, true)), options,
                  {.shuffle = true, .mode = LoaderMode::sync, .workers = 0, .seed = 1});
  std::optional<Checkpoint> saved;
  const auto keep = [&](Checkpoint checkpoint) {
    if (checkpoint.updates == 4) saved = std::move(checkpoint);
  };
  const EarlyStopping rule{.monitor = "loss", .patience = 9, .restore_best_weights = true};
  fit(training, data,
      {.epochs = 2,
       .metrics = {accuracy("y"), precision("y"), perplexity("y")},
       .callbacks = {early_stopping(rule), ModelAverage(model, {.decay = 0.5}).callback()},
       .checkpoints = {.save = keep, .every_updates = 1, .resume = resume}});
  return saved;
}

std::string bytes_of(const Checkpoint& checkpoint) {
  const TemporaryDirectory directory;
  save_checkpoint(directory / "checkpoint", checkpoint);
  return file_content(directory / "checkpoint");
}

void go_on_from(const std::string& bytes) {
  WeightsFile content = weights_in(bytes);
  content.metadata[checksum_key] = checksum_of(content);
  const Checkpoint checkpoint = checkpoint_of(std::move(content), "a checkpoint");
  trained(&checkpoint);
}

}  // namespace

FuzzedReader checkpoint_files() {
  return {"checkpoint_files",
          {bytes_of(trained(nullptr).value())},
          {"updates", "epoch", "batches", "states", "state/0/", "state/1/", "weights/",
           "optimizer/", "buffers/1/", "I64", "F32", "U8", "[1]", "[]", "-1", "9007199254740993"},
          go_on_from};
}

}  // namespace penstock::testing
