// This header has the constants of all optimizer rules. Each constant is a field of Hyper and a row
// of `all_constants`, which is the one place that names, explains and bounds the constant. The
// source of a rule says which constants the rule has. The defaults of a rule's constants are in the
// rule's settings.
#pragma once

#include <variant>

#include "graph/values/number_range.hpp"

namespace penstock::graph {

/// A Hyper has the values of the constants for one parameter. Each rule reads the constants that it
/// has. Each number but `max_weight_norm` may be 0.
struct Hyper {
  double learning_rate = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double alpha = 0.99;
  double max_weight_norm = 65500;
  bool nesterov = false;
  bool bias_correction = true;
  bool centered = false;
  /// If `tf_variant` is true, rmsprop works as TensorFlow's rule; see rmsprop.cpp.
  bool tf_variant = false;
  /// If `dampen_first_step` is true, sgd works as PopTorch's rule; see sgd.cpp.
  bool dampen_first_step = false;
  /// If `keras_variant` is true, sgd works as Keras's rule; see sgd.cpp.
  bool keras_variant = false;
};

using HyperNumber = double Hyper::*;
using HyperSwitch = bool Hyper::*;

/// A Constant describes a number or a switch in the formulas of the optimizers, such as momentum.
/// It is the same description for all rules that have this number or switch.
struct Constant {
  const char* name;  ///< `name` is the name in settings, JSON and messages.
  /// `torch_name` is the name of PyTorch's argument, or empty if PyTorch has no such argument.
  const char* torch_name;
  /// `meaning` says what the constant is or, for a switch, what a rule does if the switch is on.
  const char* meaning;
  std::variant<HyperNumber, HyperSwitch> value;
  NumberRange range = {};  ///< `range` has the numbers that are accepted. A switch has no range.
};

inline constexpr NumberRange fraction{.high = 1, .below_high = true};

/// `all_constants` has every constant once, in the order in which the constants are checked.
inline constexpr Constant all_constants[] = {
    {"learning_rate", "lr", "factor of each update", &Hyper::learning_rate},
    {"momentum", "momentum", "share of the velocity that stays from update to update",
     &Hyper::momentum},
    {"dampening", "dampening", "share of a gradient that does not enter the velocity",
     &Hyper::dampening},
    {"weight_decay", "weight_decay", "how much the weights shrink", &Hyper::weight_decay},
    {"beta1", "betas[0]", "share of the mean gradient that stays from update to update",
     &Hyper::beta1, fraction},
    {"beta2", "betas[1]", "share of the gradient's mean square that stays from update to update",
     &Hyper::beta2, fraction},
    {"eps", "eps", "number that keeps the divisor of an update away from 0", &Hyper::eps},
    {"alpha", "alpha", "share of the gradient's mean square that stays from update to update",
     &Hyper::alpha, fraction},
    {"max_weight_norm",
     "",
     "largest norm of the weights that counts in the trust ratio",
     &Hyper::max_weight_norm,
     {.above_low = true}},
    {"nesterov", "nesterov", "look one update ahead, which is Nesterov's momentum",
     &Hyper::nesterov},
    {"dampen_first_step", "",
     "dampen from the first update on and without momentum too, as PopTorch",
     &Hyper::dampen_first_step},
    {"keras_variant", "", "keep each update's learning rate in the momentum buffer, as Keras",
     &Hyper::keras_variant},
    {"centered", "centered", "divide by the gradient's standard deviation", &Hyper::centered},
    {"tf_variant", "", "work as TensorFlow's rule", &Hyper::tf_variant},
    {"bias_correction", "", "correct the moments, which are biased towards 0",
     &Hyper::bias_correction},
};

}  // namespace penstock::graph
