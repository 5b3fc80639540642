// These are the activations of a Model, which are functions without parameters. docs/layers.md
// lists them beside PyTorch's.
#pragma once

#include "penstock/tensor_functions.hpp"

namespace penstock {

/// Activations are the methods of Model that activations are computed by.
class Activations : public TensorFunctions {
 public:
  /// Returns max(x, 0), element by element.
  Value relu(Value x);
  /// Returns x where x is positive, else `negative_slope`·x.
  Value leaky_relu(Value x, double negative_slope = 0.01);
  /// Returns 1/(1 + exp(-x)), element by element.
  Value sigmoid(Value x);
  /// Returns the hyperbolic tangent, element by element.
  Value tanh(Value x);
  /// Returns x·Φ(x), where Φ is the distribution function of the normal distribution, exactly and
  /// not by its tanh approximation.
  Value gelu(Value x);
  /// Returns x/(1 + exp(-x)), element by element.
  Value silu(Value x);
  /// Returns exp(x) divided by its sum over `axis`.
  Value softmax(Value x, int axis = 1);
  /// Returns the logarithm of softmax().
  Value log_softmax(Value x, int axis = 1);

 protected:
  Activations() = default;
};

}  // namespace penstock
