// These functions make runners of the engine, and the weights and samples with which every
// contestant starts.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/runners/runner.hpp"
#include "benchmarks/runners/work.hpp"
#include "penstock/options.hpp"

namespace penstock::benchmarks {

/// A Setting says how the engine does a task. A run takes cut.samples() samples for each replica.
struct Setting {
  std::string name;  ///< `name` is the setting's text in the table.
  Cut cut;
  Topology topology = {};

  std::int64_t samples() const { return cut.samples() * topology.replication_factor; }
};

/// Returns the options of `setting`. The options ask for the outputs of every micro-batch, as the
/// trainer does.
Options options_for(const Setting& setting);

/// Returns a runner that is compiled and started, with the weights of initial_weights().
std::unique_ptr<Runner> penstock_runner(const Task& task, const Setting& setting,
                                        const Samples& samples);

/// Returns the weights of `network` with which both contestants start.
Weights initial_weights(const std::string& network);

/// Returns `count` samples of noise for `task`, because what samples show does not matter for
/// speed. They are always the same ones.
Samples noise(const Task& task, std::int64_t count);

/// Makes a training model, and returns how many milliseconds that took according to the model's
/// CompileReport.
double compile_milliseconds(const Task& task, const Setting& setting);

}  // namespace penstock::benchmarks
