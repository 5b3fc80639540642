// best_epoch_callback() finds the best epoch of a training. It keeps the weights of that epoch, and
// ends a training that has no better epoch for a while, if it is asked to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Returns the newest values of all parameters and buffers of `model`.
std::vector<NamedTensor> weights_of(const Model& model);

/// A BestEpochRule says which epoch is the best one, and what comes of that.
struct BestEpochRule {
  std::string subject;  ///< Texts of errors begin with `subject`.
  std::string monitor;
  bool higher_is_better = false;
  /// An epoch is a gain if its value is better than the best value before by more than this. A
  /// value of nan is no gain.
  double min_delta = 0;
  /// If the weights of the best epoch are kept, `keeps_weights` is the name of the callback's
  /// option that says so, and otherwise it is empty.
  std::string keeps_weights = {};
  /// More epochs than this without a gain end the training, if there is a number.
  std::optional<int> patience = {};
};

/// Returns a callback that follows `rule`. If weights are kept, and the last epoch was not the best
/// one, the model gets the weights of the best epoch in the end. The callback's on_fit_begin throws
/// Error invalid_argument if no value has the name `monitor`.
/// @throws Error invalid_argument if `rule.monitor` is empty; std::bad_alloc.
FitCallback best_epoch_callback(const BestEpochRule& rule);

}  // namespace penstock
