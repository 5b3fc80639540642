// These functions return the fields of options, so that tests notice a field that is forgotten, and
// compare options field by field.
#pragma once

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "penstock/options.hpp"

namespace penstock::testing {

// The functions called fields() list all fields of each group. A field that is added does not
// compile until it is listed here. Then options_json_fields_test.cpp fails until it changes the
// field. `log` and `compile_progress` are functions and have no text.

inline auto fields(const Stage& stage) {
  const auto& [blocks, ipu] = stage;
  return std::tie(blocks, ipu);
}

inline auto fields(const Topology& topology) {
  const auto& [strategy, schedule, stages, rule, automatic_stages, ipus, memory, replicas,
               input_group, threads, phased] = topology;
  return std::tie(strategy, schedule, rule, automatic_stages, ipus, memory, replicas, input_group,
                  threads);
}

inline auto fields(const PhasedOptions& phased) {
  const auto& [phases, liveness, separate_backward_phase, batch_serial, on_ipu] = phased;
  const auto& [weights, activations, accumulators, state] = on_ipu;
  return std::tie(liveness, separate_backward_phase, batch_serial, weights, activations,
                  accumulators, state);
}

inline auto fields(const TrainingOptions& training) {
  const auto& [accumulation, reduction, strategy, offload, sharding, recompute, stages] = training;
  return std::tie(accumulation, reduction, strategy, recompute, stages);
}

inline auto fields(const ShardingOptions& sharding) {
  const auto& [state] = sharding;
  return std::tie(state.on, state.minimum_elements);
}

inline auto fields(const OffloadOptions& offload) {
  const auto& [state, sums, activations, weights] = offload;
  return std::tie(state.on, state.minimum_bytes, sums.on, sums.minimum_bytes, activations.on,
                  activations.minimum_bytes, weights.on, weights.minimum_bytes);
}

inline auto fields(const Anchor& anchor) {
  const auto& [name, tensor, gradient, mode, period] = anchor;
  return std::tie(name, tensor, gradient, mode, period);
}

inline auto fields(const OutputOptions& output) {
  const auto& [mode, period, anchors] = output;
  return std::tie(mode, period);
}

inline auto fields(const RuntimeOptions& runtime) {
  const auto& [threads, trace, trace_events, stall_seconds, cache_directory, cache_bytes, log,
               log_level, compile_progress, monitor] = runtime;
  static_cast<void>(log);
  static_cast<void>(compile_progress);
  return std::tie(threads, trace, trace_events, stall_seconds, cache_directory, cache_bytes,
                  log_level, monitor);
}

inline auto fields(const RecoveryOptions& recovery) {
  const auto& [attempts, wait_seconds] = recovery;
  return std::tie(attempts, wait_seconds);
}

inline auto own_fields(const Options& options) {
  const auto& [batch_size, device_iterations, seed, static_shapes, topology, training, output,
               runtime, recovery] = options;
  return std::tie(batch_size, device_iterations, seed, static_shapes);
}

inline void expect_equal(const std::vector<Stage>& left, const std::vector<Stage>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(fields(left[i]), fields(right[i]));
}

inline void expect_equal(const PhasedOptions& left, const PhasedOptions& right) {
  EXPECT_EQ(fields(left), fields(right));
  ASSERT_EQ(left.phases.size(), right.phases.size());
  for (std::size_t i = 0; i < left.phases.size(); ++i)
    expect_equal(left.phases[i].stages, right.phases[i].stages);
}

inline void expect_equal(const Options& left, const Options& right) {
  EXPECT_EQ(own_fields(left), own_fields(right));
  EXPECT_EQ(fields(left.topology), fields(right.topology));
  EXPECT_EQ(fields(left.training), fields(right.training));
  EXPECT_EQ(fields(left.training.offload), fields(right.training.offload));
  EXPECT_EQ(fields(left.training.sharding), fields(right.training.sharding));
  EXPECT_EQ(fields(left.output), fields(right.output));
  EXPECT_EQ(fields(left.runtime), fields(right.runtime));
  EXPECT_EQ(fields(left.recovery), fields(right.recovery));
  const auto& anchors = left.output.anchors;
  ASSERT_EQ(anchors.size(), right.output.anchors.size());
  for (std::size_t i = 0; i < anchors.size(); ++i)
    EXPECT_EQ(fields(anchors[i]), fields(right.output.anchors[i]));
  expect_equal(left.topology.stages, right.topology.stages);
  expect_equal(left.topology.phased, right.topology.phased);
}

}  // namespace penstock::testing
