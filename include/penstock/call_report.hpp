// A CallReport says when the micro-batches of one call began and ended. It is plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// TensorTimes are the times of one tensor in a call, one for each micro-batch.
struct TensorTimes {
  std::string name;  ///< `name` is the name of the input, the output, the loss or the anchor.
  /// `seconds` has a time for each micro-batch, in seconds since the call began, in the data's
  /// order.
  std::vector<double> seconds = {};
};

/// A Latency says how long the micro-batches of a call took, or waited, in seconds. All fields are
/// 0 if nothing was measured, as in a call without a micro-batch.
struct Latency {
  double least = 0;  ///< `least` is the time that the quickest micro-batch took.
  double mean = 0;   ///< `mean` is the time that a micro-batch took on average.
  double most = 0;   ///< `most` is the time that the slowest micro-batch took.
};

/// A Recovery says how a call has gone on after a failure, as RecoveryOptions let it: other actors
/// have taken the place of those that had failed.
struct Recovery {
  std::string failure;  ///< `failure` says what had failed.
  /// The call went on from the weights and the state after this many updates of the model.
  std::int64_t updates = 0;
  /// The call went on with this micro-batch of each replica, counted from 0 at the call's
  /// beginning. If several plans have run the call, the micro-batches of each of them count.
  std::int64_t micro_batch = 0;
  /// The other actors began this many seconds after the call had begun to replace those that had
  /// failed.
  double seconds = 0;
};

/// A CallReport says when the micro-batches of one call began and ended. Only `seconds` and
/// `recoveries` are known without `RuntimeOptions::trace`, if the call recorded more events than
/// `RuntimeOptions::trace_events`, if its first plan has gone on after a failure, or if there was
/// no memory for the report.
struct CallReport {
  /// The call took this many seconds, including the time to copy changed weights to the IPUs.
  double seconds = 0;
  double first_run_seconds = 0;  ///< The first program began this many seconds after the call.
  /// `inputs` has, for each input, the times at which the first program that reads it began.
  std::vector<TensorTimes> inputs = {};
  /// `outputs` has, for each returned tensor, the times at which the program that computes it
  /// ended.
  std::vector<TensorTimes> outputs = {};
  /// `to_ipus` says how long a micro-batch waited from the beginning of the call to its first
  /// program.
  Latency to_ipus = {};
  /// `on_ipus` says how long a micro-batch took from its first program until its outputs were
  /// computed.
  Latency on_ipus = {};
  /// `from_ipus` says how long the outputs of a micro-batch waited until the call returned.
  Latency from_ipus = {};
  /// `recoveries` has the failures after which the call has gone on, in their order.
  std::vector<Recovery> recoveries = {};
};

}  // namespace penstock
