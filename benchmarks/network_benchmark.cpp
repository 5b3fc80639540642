// This program prints one table of the engine's figures and their goals. Whole networks are
// compared with PyTorch, which gets the same weights and batches in alternating runs, and with the
// machine's peak, which is measured first. Single ops are compared with the peak of their core,
// which is measured in turns with them. The data are in memory and always the same noise. The
// program fails if the engine and PyTorch do not arrive at the same losses and logits. Convolutions
// of deep networks have a table of their own, beside oneDNN, whose results must be the engine's.
// Usage: network_benchmark [PART [ROUNDS [PENSTOCK_BYTES [PYTORCH_BYTES]]]]
// PART is `contests` for the small networks and PyTorch, `deep` for torchvision's networks and
// PyTorch, `ops` for single ops, `convolutions` for the convolutions of deep networks and oneDNN,
// and by default `all` for the small networks, single ops and the engine's own cost. ROUNDS says
// how often each measurement is repeated. PENSTOCK_BYTES and PYTORCH_BYTES are the peak memory of
// processes that have done the trainer's default work; benchmarks/run measures both.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/chains/empty_pipeline.hpp"
#include "benchmarks/convolutions/convolution_rows.hpp"
#include "benchmarks/machine/fma_peak.hpp"
#include "benchmarks/machine/memory_bandwidth.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/measuring/table.hpp"
#include "benchmarks/networks/balanced_stages.hpp"
#include "benchmarks/networks/contests.hpp"
#include "benchmarks/networks/memory_costs.hpp"
#include "benchmarks/ops/op_rows.hpp"
#include "benchmarks/pytorch/pytorch.hpp"

namespace penstock::benchmarks {
namespace {

constexpr int cores = 2;  // The goals are for a machine with two cores.

/// The column of PyTorch has this text if there is no PyTorch.
const std::string not_installed = "not installed";

/// Prints what the machine can do at most, and returns the GFLOP/s of both cores together.
double measure_machine() {
  const graph::Isa isa = graph::available_isas().back();
  const double peak = fma_peak(isa, cores);
  std::printf(
      "%s; peak of one core %.0f, of %d cores %.0f GFLOP/s; memory read by one core at "
      "%.1f, by %d cores at %.1f GB/s; PyTorch %s\n\n",
      std::string(to_string(isa)).c_str(), fma_peak(isa), cores, peak, memory_bandwidth(isa), cores,
      memory_bandwidth(isa, cores),
      pytorch() != nullptr ? pytorch()->description().c_str() : not_installed.c_str());
  return peak;
}

/// Returns the goal for the multiple of PyTorch's speed, or 0 if there is none. PyTorch must be
/// there.
double wanted_times(const Goal& goal) {
  const bool openblas = pytorch()->description().find("openblas") != std::string::npos;
  return openblas && goal.times_openblas > 0 ? goal.times_openblas : goal.times_pytorch;
}

Row row_of(const Contest& contest, const Standing& standing, double peak) {
  const double speed = standing.penstock.samples_per_second;
  Row row{.work = contest.title,
          .unit = contest.unit,
          .setting = standing.penstock.setting,
          .penstock = number(speed),
          .of_peak = number(100 * speed * contest.megaflops * 1e-3 / peak, 1),
          .pytorch = not_installed};
  if (const double wanted = contest.goal.samples_per_second; wanted > 0)
    row.goals.push_back(at_least(wanted, speed));
  if (standing.pytorch.samples_per_second == 0) return row;
  const double times = speed / standing.pytorch.samples_per_second;
  row.pytorch = number(standing.pytorch.samples_per_second);
  row.pytorch_setting = standing.pytorch.setting;
  row.times = number(times, 1);
  if (const double wanted = wanted_times(contest.goal); wanted > 0)
    row.goals.push_back(at_least(wanted, times, 1) + " (times)");
  return row;
}

/// Prints the rows of all contests, and returns whether the engine and PyTorch came to the same
/// result in each contest.
bool print_contests(Networks networks, int rounds, double peak) {
  bool same = true;
  std::uint64_t blocks = 0;
  for (const Contest& contest : contests(networks)) {
    const Standing standing = hold(contest, rounds);
    print(row_of(contest, standing, peak));
    blocks += standing.blocks;
    if (standing.difference < 1e-3) continue;
    std::printf("  but PyTorch's outcome differs by %.2g\n", standing.difference);
    same = false;
  }
  print({.work = "tensor memory allocated in all of these",
         .unit = "blocks",
         .penstock = std::to_string(blocks),
         .goals = {at_most(0, static_cast<double>(blocks))}});
  return same;
}

void print_balanced(int rounds) {
  for (const auto& [accumulation, goal] : {std::pair(40, 1.9), std::pair(10, 1.75)}) {
    const BalancedStages result = compare_balanced_stages(accumulation, rounds);
    const std::string windows = "G=" + std::to_string(accumulation);
    print({.work = "4 equal stages, pipelined over sharded",
           .unit = "times",
           .setting = windows + ", " + number(result.sharded.visit_microseconds) + " us a visit",
           .penstock = number(result.speedup, 2),
           .goals = {at_least(goal, result.speedup, 2)}});
    print({.work = "  cores computing while pipelined",
           .unit = "cores",
           .setting = windows,
           .penstock = number(result.pipelined.busy_cores, 2)});
    print({.work = "  cores computing while sharded",
           .unit = "cores",
           .setting = windows,
           .penstock = number(result.sharded.busy_cores, 2)});
    const BubbleProfile bubble = balanced_bubble(accumulation, rounds);
    const double points = 100 * std::abs(bubble.measured - bubble.predicted);
    print({.work = "  bubble, measured from predicted",
           .unit = "points",
           .setting = windows + ", " + number(100 * bubble.measured, 1) + " % measured, " +
                      number(100 * bubble.predicted, 1) + " % predicted",
           .penstock = number(points, 1),
           .goals = {at_most(3, points, 1)}});
  }
}

void print_memory_costs(int rounds) {
  for (const MemoryCost& cost : memory_costs(rounds)) {
    const std::string sign = cost.update_microseconds < 0 ? "" : "+";
    print({.work = "mnist-cnn, " + cost.means,
           .unit = "times",
           .setting = number(static_cast<double>(cost.bytes_less) * 1e-3) + " kB less, " + sign +
                      number(cost.update_microseconds) + " us",
           .penstock = number(cost.times, 2)});
  }
}

void print_recording(int rounds) {
  const double times = recording_cost(rounds);
  print({.work = "mnist-cnn, recording what its IPUs do",
         .unit = "times",
         .penstock = number(times, 3),
         .goals = {at_most(1.02, times, 3)}});
}

void print_visits(int rounds) {
  const double few = EmptyPipeline({.stages = 4, .accumulation = 400}).visit_microseconds(rounds);
  const double many =
      EmptyPipeline({.stages = 1000, .accumulation = 40}).visit_microseconds(rounds);
  print({.work = "overhead per stage visit",
         .unit = "us",
         .setting = "4 stages",
         .penstock = number(few, 2),
         .goals = {at_most(3, few)}});
  print({.work = "overhead per stage visit",
         .unit = "us",
         .setting = "1000 stages",
         .penstock = number(many, 2),
         .goals = {at_most(2 * few, many, 2)}});
}

void print_compilation(int rounds) {
  const Contest& contest = mnist_training();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round)
    times.push_back(compile_milliseconds(contest.task, contest.settings.front()));
  print({.work = "mnist-cnn compiled and started",
         .unit = "ms",
         .setting = contest.settings.front().name,
         .penstock = number(median(times), 2),
         .goals = {at_most(50, median(times))}});
}

void print_memory(double penstock_bytes, double pytorch_bytes) {
  if (penstock_bytes == 0) return;
  const double megabytes = penstock_bytes * 1e-6;
  Row row{.work = "mnist-cnn, peak memory of default run",
          .unit = "MB",
          .penstock = number(megabytes),
          .pytorch = not_installed,
          .goals = {at_most(200, megabytes)}};
  if (pytorch_bytes > 0) {
    row.pytorch = number(pytorch_bytes * 1e-6);
    row.times = number(penstock_bytes / pytorch_bytes, 2);
    row.goals.push_back(at_most(1, penstock_bytes / pytorch_bytes) + " (times)");
  }
  print(row);
}

enum class Part { all, contests, deep, ops, convolutions };

struct Run {
  Part part = Part::all;
  int rounds = 7;
  /// `penstock_bytes` is the engine's peak memory, or 0 if it was not measured.
  double penstock_bytes = 0;
  /// `pytorch_bytes` is PyTorch's peak memory, or 0 if PyTorch is not installed.
  double pytorch_bytes = 0;
};

int run(const Run& wanted) {
  const auto [part, rounds, penstock_bytes, pytorch_bytes] = wanted;
  const double peak = measure_machine();
  if (part == Part::convolutions) return print_convolution_rows(rounds) ? 0 : 1;
  print_header();
  const Networks networks = part == Part::deep ? Networks::deep : Networks::small;
  const bool same = part == Part::ops || print_contests(networks, rounds, peak);
  if (part == Part::all || part == Part::ops) print_op_rows(rounds);
  if (part == Part::all) {
    print_balanced(rounds);
    print_memory_costs(rounds);
    print_recording(rounds);
    print_visits(rounds);
    print_compilation(rounds);
    print_memory(penstock_bytes, pytorch_bytes);
  }
  std::printf(
      "\nmedians of %d (the measured bubble is of one profile of as many steps); %% of peak: "
      "networks of\n%d cores', ops of one core's, measured by turns, in [] without the "
      "multiplications by zeros around\nimages, which are left out; kB less on all IPUs together, "
      "us by which a weight update takes longer on\nall of them together\n",
      rounds, cores);
  return same ? 0 : 1;
}

std::optional<Part> part_named(const std::string& name) {
  if (name == "all") return Part::all;
  if (name == "contests") return Part::contests;
  if (name == "deep") return Part::deep;
  if (name == "ops") return Part::ops;
  if (name == "convolutions") return Part::convolutions;
  return std::nullopt;
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  using namespace penstock::benchmarks;
  const auto part = part_named(argc > 1 ? argv[1] : "all");
  if (!part) {
    std::fprintf(stderr,
                 "network_benchmark: expected all, contests, deep, ops or convolutions, got %s\n",
                 argv[1]);
    return 2;
  }
  const auto argument = [&](int index, double otherwise) {
    return argc > index ? std::atof(argv[index]) : otherwise;
  };
  return run({.part = *part,
              .rounds = std::max(1, static_cast<int>(argument(2, 7))),
              .penstock_bytes = argument(3, 0),
              .pytorch_bytes = argument(4, 0)});
}
