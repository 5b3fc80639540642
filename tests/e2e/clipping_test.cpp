// 2.3 of docs/reference.md: this test compares clipping by the global norm with the formula of
// torch.nn.utils.clip_grad_norm_, computed in double from the gradients of single micro-batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/networks/networks.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr double learning_rate = 0.5, loss_scale = 1024;
constexpr int batch = 8, accumulation = 4, replicas = 2;

/// Returns options for four stages in two replicas, with anchors that return the gradient of every
/// parameter in every micro-batch.
Options options_for(const Model& model) {
  Options options{.batch_size = batch};
  options.training.gradient_accumulation = accumulation;
  options.topology.replication_factor = replicas;
  for (const ParameterInfo& parameter : model.parameters())
    options.output.anchors.push_back({.name = parameter.name,
                                      .tensor = parameter.name,
                                      .gradient = true,
                                      .mode = OutputMode::all});
  return options;
}

using Numbers = std::vector<double>;

Numbers numbers(const Tensor& tensor) {
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

/// Returns the mean over all micro-batches of the gradients that an anchor returned, divided by
/// `loss_scaling`.
Numbers mean_gradient(const Tensor& anchored, double loss_scaling) {
  const Numbers all = numbers(anchored);
  constexpr std::size_t count = accumulation * replicas;
  Numbers mean(all.size() / count);
  for (std::size_t i = 0; i < all.size(); ++i)
    mean[i % mean.size()] += all[i] / (count * loss_scaling);
  return mean;
}

double norm(const std::map<std::string, Numbers>& gradients) {
  double squares = 0;
  for (const auto& [name, gradient] : gradients)
    for (const double value : gradient) squares += value * value;
  return std::sqrt(squares);
}

/// Makes one step of plain descent, with the gradient clipped to `share` of its norm, and expects
/// the weights that the formula gives.
void expect_formula(double share, double loss_scaling) {
  const Model model = networks::find_network("mnist-cnn").build(3);
  const Options options = options_for(model);
  const auto digits = all_samples(*synthetic_digits(options.samples_per_step(), 1, {}));
  std::map<std::string, Numbers> before, gradients;
  for (const ParameterInfo& parameter : model.parameters())
    before[parameter.name] = numbers(model.weight(parameter.name));

  const auto step = [&](double max_grad_norm) {
    Optimizer optimizer = Sgd{.learning_rate = learning_rate};
    optimizer.max_grad_norm = max_grad_norm;
    optimizer.loss_scaling = loss_scaling;
    const Model fresh = networks::find_network("mnist-cnn").build(3);
    const StepResult result = TrainingModel(fresh, options, optimizer).step(digits);
    for (const ParameterInfo& parameter : model.parameters())
      gradients[parameter.name] = mean_gradient(result.anchor(parameter.name), loss_scaling);
    return fresh;
  };
  step(0);
  const double length = norm(gradients), limit = share * length;
  const double factor = std::min(1.0, limit / (length + 1e-6));
  const Model trained = step(limit);
  for (const auto& [name, weights] : before) {
    const Numbers after = numbers(trained.weight(name));
    const Numbers& gradient = gradients.at(name);
    ASSERT_EQ(gradient.size(), weights.size()) << name;
    for (std::size_t i = 0; i < weights.size(); ++i)
      ASSERT_NEAR(after[i], weights[i] - learning_rate * factor * gradient[i], 1e-6)
          << name << '[' << i << "], limit " << share << " of the norm " << length;
  }
}

TEST(Clipping, R2_3_IsPyTorchsOverFourStagesWindowsAndReplicas) {
  for (const double loss_scaling : {1.0, loss_scale})
    for (const double share : {0.1, 0.9, 2.0}) expect_formula(share, loss_scaling);
}

}  // namespace
}  // namespace penstock::testing
