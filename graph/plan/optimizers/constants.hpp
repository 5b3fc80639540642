// The constants of all optimizer rules: each is a field of Hyper and a row of `all_constants`,
// which is the one place that names and bounds it. The rules' sources say which constants a rule
// has; defaults are those of the rule's settings.
#pragma once

#include <variant>

#include "graph/values/number_range.hpp"

namespace penstock::graph {

/// The values of the constants for one parameter. Each rule reads the ones that it has. Zero is
/// legal for momentum, dampening and weight decay, and for a learning rate.
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
  bool tf_variant = false;         ///< TensorFlow's variant of rmsprop, see rmsprop.cpp
  bool dampen_first_step = false;  ///< PopTorch's variant of sgd, see sgd.cpp
  bool keras_variant = false;      ///< Keras's variant of sgd, see sgd.cpp
};

using HyperNumber = double Hyper::*;
using HyperSwitch = bool Hyper::*;

struct Constant {
  const char* name;  ///< The name in settings, JSON and messages.
  std::variant<HyperNumber, HyperSwitch> value;
  NumberRange range = {};  ///< A number outside is refused; a switch has none.
};

inline constexpr NumberRange fraction{.high = 1, .below_high = true};

/// Every constant once, in the order in which they are checked.
inline constexpr Constant all_constants[] = {
    {"learning_rate", &Hyper::learning_rate},
    {"momentum", &Hyper::momentum},
    {"dampening", &Hyper::dampening},
    {"weight_decay", &Hyper::weight_decay},
    {"beta1", &Hyper::beta1, fraction},
    {"beta2", &Hyper::beta2, fraction},
    {"eps", &Hyper::eps},
    {"alpha", &Hyper::alpha, fraction},
    {"max_weight_norm", &Hyper::max_weight_norm, {.above_low = true}},
    {"nesterov", &Hyper::nesterov},
    {"dampen_first_step", &Hyper::dampen_first_step},
    {"keras_variant", &Hyper::keras_variant},
    {"centered", &Hyper::centered},
    {"tf_variant", &Hyper::tf_variant},
    {"bias_correction", &Hyper::bias_correction},
};

}  // namespace penstock::graph
