// These are the activations of a Model, which are functions without parameters. docs/layers.md
// lists them beside PyTorch's.
#pragma once

#include <cstdint>

#include "penstock/tensor_functions.hpp"

namespace penstock {

/// A GeluForm says how Model::gelu() computes the distribution function Φ of the normal
/// distribution: exactly, or by a hyperbolic tangent, as GPT-2 does.
enum class GeluForm : std::uint8_t { exact, tanh };

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
  /// Returns x·Φ(x), where Φ is the distribution function of the normal distribution, which
  /// GeluForm::tanh takes to be (1 + tanh(√(2/π)·(x + 0.044715·x³)))/2.
  Value gelu(Value x, GeluForm form = GeluForm::exact);
  /// Returns x/(1 + exp(-x)), element by element.
  Value silu(Value x);
  /// Returns x above 0, else alpha·(exp(x) - 1).
  Value elu(Value x, double alpha = 1);
  /// Returns elu() with the alpha and the scale for which a network of such layers keeps the mean 0
  /// and the variance 1: 1.0507·x above 0, else 1.7581·(exp(x) - 1).
  Value selu(Value x);
  /// Returns x above 0, else alpha·(exp(x/alpha) - 1), where alpha is above 0.
  Value celu(Value x, double alpha = 1);
  /// Returns log(1 + exp(beta·x))/beta, where beta is above 0, and x where beta·x is above
  /// `threshold`.
  Value softplus(Value x, double beta = 1, double threshold = 20);
  /// Returns x/(1 + |x|).
  Value softsign(Value x);
  /// Returns log(1/(1 + exp(-x))).
  Value logsigmoid(Value x);
  /// Returns x·tanh(log(1 + exp(x))).
  Value mish(Value x);
  /// Returns x between 0 and 6, else the bound that is nearer.
  Value relu6(Value x);
  /// Returns x between `low` and `high`, else the bound that is nearer. In contrast to that of
  /// clamp(), the gradient is 0 at the bounds.
  Value hardtanh(Value x, double low = -1, double high = 1);
  /// Returns (x + 3)/6 from -3 to 3, 0 below and 1 above.
  Value hardsigmoid(Value x);
  /// Returns x·(x + 3)/6 from -3 to 3, 0 below and x above.
  Value hardswish(Value x);
  /// Returns 0 from -bound to bound, and x beyond these numbers. `bound` is 0 or more.
  Value hardshrink(Value x, double bound = 0.5);
  /// Returns 0 from -bound to bound, x - bound above and x + bound below. `bound` is 0 or more.
  Value softshrink(Value x, double bound = 0.5);
  /// Returns x - tanh(x).
  Value tanhshrink(Value x);
  /// Returns x above `threshold`, and `value` elsewhere.
  Value threshold(Value x, double threshold, double value);
  /// Returns a·sigmoid(b), where a and b are the two halves of x along `axis`. The gates of other
  /// units, such as SwiGLU, are a product: `silu(a) * b`.
  Value glu(Value x, int axis = -1);
  /// Returns softmax() of -x.
  Value softmin(Value x, int axis = 1);
  /// Returns exp(x) divided by its sum over `axis`.
  Value softmax(Value x, int axis = 1);
  /// Returns the logarithm of softmax().
  Value log_softmax(Value x, int axis = 1);

 protected:
  Activations() = default;
};

}  // namespace penstock
