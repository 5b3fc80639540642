// The engine as a contestant, and what every contestant starts from.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/runners/runner.hpp"
#include "benchmarks/runners/work.hpp"
#include "penstock/options.hpp"

namespace penstock::benchmarks {

/// How the engine does a task. Its samples per run are cut.samples() times the replicas.
struct Setting {
  std::string name;  ///< for the table
  Cut cut;
  Topology topology = {};

  std::int64_t samples() const { return cut.samples() * topology.replication_factor; }
};

/// With the outputs of every micro-batch, as the trainer asks for them.
Options options_for(const Setting& setting);

/// Compiled and started, with the weights of initial_weights().
std::unique_ptr<Runner> penstock_runner(const Task& task, const Setting& setting,
                                        const Samples& samples);

/// What both contestants' weights are at first.
Weights initial_weights(const std::string& network);

/// Noise: what images show does not matter for speed. The same for the same count.
Samples noise(std::int64_t count);

/// Of a fresh training model: what CompileReport says, in milliseconds.
double compile_milliseconds(const Task& task, const Setting& setting);

}  // namespace penstock::benchmarks
