// A BestEpoch finds the best epoch of a training, and keeps the weights of that epoch if it is
// asked to. Callbacks that watch a value use it. One thread uses it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Returns the newest values of all parameters and buffers of `model`.
std::vector<NamedTensor> weights_of(const Model& model);

class BestEpoch {
 public:
  struct Rule {
    std::string subject;  ///< Texts of errors begin with `subject`.
    std::string monitor;
    bool higher_is_better = false;
    /// An epoch is a gain if its value is better than the best value before by more than this.
    double min_delta = 0;
    /// If the weights of the best epoch are kept, `keeps_weights` is the name of the callback's
    /// option that says so, and otherwise it is empty.
    std::string keeps_weights = {};
  };

  /// @throws Error invalid_argument if `rule.monitor` is empty.
  explicit BestEpoch(Rule rule);

  void set_model(const Model& model);
  /// Begins a training whose records have values with these names. @throws Error invalid_argument
  /// if no value has the name `monitor`.
  void begin(const std::vector<std::string>& names);
  /// Returns whether the epoch is a gain. A value of nan is none.
  bool gains(const EpochRecord& epoch);
  /// Ends a training. If weights are kept, and the last epoch was not the best one, the model gets
  /// the weights of the best epoch.
  void end();

 private:
  void keep_weights();

  Rule rule_;
  double best_ = -std::numeric_limits<double>::infinity();
  bool last_gained_ = true;           // This is true before the first epoch, too.
  std::optional<Model> model_;        // `model_` is empty unless weights are kept.
  std::vector<NamedTensor> weights_;  // `weights_` has the weights after the last gain.
};

}  // namespace penstock
