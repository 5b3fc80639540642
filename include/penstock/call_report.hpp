// CallReport says when the micro-batches of one call came and went. It is plain data.
#pragma once

#include <string>
#include <vector>

namespace penstock {

/// Says when the micro-batches of one tensor were there.
struct TensorTimes {
  std::string name;  ///< This is the name of the input, the output, the loss or the anchor.
  /// Holds a moment for each micro-batch, in seconds since the call began, in the data's order.
  std::vector<double> seconds = {};
};

/// Holds seconds over the micro-batches of a call, which are zeros if it has none.
struct Latency {
  double least = 0;  ///< This is the shortest of them.
  double mean = 0;   ///< This is their mean.
  double most = 0;   ///< This is the longest of them.
};

/// Only `seconds` is known without `RuntimeOptions::trace`, if a call recorded more events than
/// `RuntimeOptions::trace_events`, and if there was no memory for its report.
struct CallReport {
  double seconds = 0;            ///< from the call to its return, new weights' copies included
  double first_run_seconds = 0;  ///< until the first program began
  std::vector<TensorTimes> inputs = {};   ///< when the first program that reads it began
  std::vector<TensorTimes> outputs = {};  ///< what the call returns: when its program ended
  Latency to_ipus = {};                   ///< from the call to a micro-batch's first program
  Latency on_ipus = {};                   ///< from there until its outputs were computed
  Latency from_ipus = {};                 ///< from there to the call's return
};

}  // namespace penstock
