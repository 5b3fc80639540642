#include "tests/e2e/offload_runs.hpp"

#include <gtest/gtest.h>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     offload_batch * offload_accumulation * 2 * offload_updates));
  return samples;
}

}  // namespace

Options four_stages() {
  Options options{.batch_size = offload_batch, .device_iterations = 1};
  options.training.gradient_accumulation = offload_accumulation;
  // With one thread, a plan's scratch is the same on every machine.
  options.topology.threads_per_ipu = 1;
  return options;
}

Options one_stage() {
  Options options = four_stages();
  options.topology.stages = parse_stages("B1,B2,B3,B4");
  return options;
}

TrainingRun run_digits(const Options& options, const Optimizer& optimizer) {
  return train(networks::find_network("mnist-cnn").build(3), options, optimizer, digits(),
               offload_updates);
}

std::string refused_without(Options kept, Options moved) {
  for (Options* options : {&kept, &moved}) {
    const std::int64_t peak = ipu_peak(run_digits(*options));
    options->topology.ipu_memory_bytes = peak;
    EXPECT_EQ(ipu_peak(run_digits(*options)), peak);
    options->topology.ipu_memory_bytes = peak - 1;
    EXPECT_NE(refusal(Errc::out_of_memory, [&] { run_digits(*options); }), "accepted");
  }
  kept.topology.ipu_memory_bytes = moved.topology.ipu_memory_bytes += 1;
  EXPECT_EQ(refusal(Errc::out_of_memory, [&] { run_digits(moved); }), "accepted");
  return refusal(Errc::out_of_memory, [&] { run_digits(kept); });
}

std::int64_t sum(const TrainingRun& run, std::int64_t (*of)(const StageReport&)) {
  std::int64_t total = 0;
  for (const StageReport& stage : run.stages) total += of(stage);
  return total;
}

std::int64_t peaks(const TrainingRun& run) {
  return sum(run, [](const StageReport& stage) { return stage.peak_bytes; });
}

std::int64_t ipu_peak(const TrainingRun& run) {
  return sum(run, [](const StageReport& stage) { return stage.peak_bytes - stage.shared_bytes; }) +
         run.stages.front().shared_bytes;
}

}  // namespace penstock::testing
