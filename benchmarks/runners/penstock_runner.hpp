// This is the engine as a contestant, and what every contestant starts from.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/runners/runner.hpp"
#include "benchmarks/runners/work.hpp"
#include "penstock/options.hpp"

namespace penstock::benchmarks {

/// Says how the engine does a task. Its samples per run are cut.samples() times the replicas.
struct Setting {
  std::string name;  ///< Stands in the table.
  Cut cut;
  Topology topology = {};

  std::int64_t samples() const { return cut.samples() * topology.replication_factor; }
};

/// Returns options with the outputs of every micro-batch, as the trainer asks for them.
Options options_for(const Setting& setting);

/// Returns a runner that is compiled and started, with the weights of initial_weights().
std::unique_ptr<Runner> penstock_runner(const Task& task, const Setting& setting,
                                        const Samples& samples);

/// Returns what both contestants' weights are at first.
Weights initial_weights(const std::string& network);

/// Returns noise, as what images show does not matter for speed. It is the same for the same count.
Samples noise(std::int64_t count);

/// Returns what CompileReport says of a fresh training model, in milliseconds.
double compile_milliseconds(const Task& task, const Setting& setting);

}  // namespace penstock::benchmarks
