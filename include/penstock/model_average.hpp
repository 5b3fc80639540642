// A ModelAverage is a copy of a Model whose weights are the exponential moving average of the
// weights that the model has during its training. Copies of a ModelAverage share the average. It
// takes part in the calls of both models, one thread at a time.
#pragma once

#include <cstdint>

#include "penstock/fit.hpp"
#include "penstock/model.hpp"

namespace penstock {

/// ModelAverageOptions say how a ModelAverage follows the weights of the model.
struct ModelAverageOptions {
  /// `decay` is the share of the average that stays at each update of the average. It is 0 or more
  /// and below 1.
  double decay = 0.999;
  /// The callback updates the average after the last of each `every_steps` steps, which it counts
  /// across epochs and calls of fit(). The number is 1 or more. A larger number saves copies of the
  /// weights.
  std::int64_t every_steps = 1;
};

/// A ModelAverage keeps the moving average of a model's weights, as
/// torch.optim.swa_utils.AveragedModel does. The training does not notice it: the average has a
/// model of its own, for which a host makes an InferenceModel to evaluate or to serve the average.
class ModelAverage {
 public:
  /// Makes the average of the weights of `model`, which begins with the weights that `model` has
  /// now. @throws Error invalid_argument for options out of their range; as Model::clone().
  explicit ModelAverage(const Model& model, const ModelAverageOptions& options = {});

  /// Returns a handle of the average's own model. To resume an average that was saved, load its
  /// weights into this model. The weights must not be changed during an update().
  const Model& model() const noexcept { return average_; }

  /// Updates the average: each parameter a of the average becomes a + (1 - decay)·(w - a) in f32,
  /// where w is the newest weight of the model, and each buffer becomes that of the model. A frozen
  /// parameter stays equal to that of the model as long as nobody sets it.
  /// @throws Error as Model::weight() of the trained model. The average is unchanged then.
  void update() const;

  /// Returns a callback that calls update() during fit(). The callback keeps the average. Each
  /// callback counts the steps for itself and its copies. A checkpoint has the average and that
  /// count as the state "model average"; a training with several averages gives each callback
  /// another FitCallback::state_name.
  FitCallback callback() const;

 private:
  Model model_, average_;
  ModelAverageOptions options_;
};

}  // namespace penstock
