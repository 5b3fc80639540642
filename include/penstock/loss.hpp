// What the losses of a Model may be told: how they become a number, and the constants of their
// formulas. Values; PyTorch's defaults.
#pragma once

#include <cstdint>

namespace penstock {

/// How a loss becomes a number: over all its terms, or over the targets that are not ignored.
/// `none` keeps the terms apart; training on it is training on their sum.
enum class LossReduction : std::uint8_t { mean, sum, none };

struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;
  double label_smoothing = 0;        ///< 0 to 1
  std::int64_t ignore_index = -100;  ///< a label that counts for nothing
  /// false: x are probabilities, clipped to [1e-7, 1 - 1e-7] and made logits by the logarithm, as
  /// Keras does it.
  bool from_logits = true;
};

struct SmoothL1Options {
  LossReduction reduction = LossReduction::mean;
  double beta = 1;  ///< 0 or more: where the parabola ends
};

struct KlDivOptions {
  LossReduction reduction = LossReduction::mean;
  bool log_target = false;  ///< the target holds log-probabilities
};

struct PoissonNllOptions {
  LossReduction reduction = LossReduction::mean;
  bool log_input = true;  ///< x is the logarithm of the rate
  bool full = false;      ///< add Stirling's approximation of log(target!)
  double eps = 1e-8;      ///< 0 or more; added to the rate before its logarithm is taken
};

struct HingeOptions {
  LossReduction reduction = LossReduction::mean;
  double margin = 1;
};

struct MarginOptions {
  LossReduction reduction = LossReduction::mean;
  double margin = 0;
};

struct TripletMarginOptions {
  LossReduction reduction = LossReduction::mean;
  double margin = 1;  ///< more than 0
  int p = 2;          ///< the norm that is the distance: 1 or 2
  double eps = 1e-6;  ///< 0 or more; added to each difference
  bool swap = false;  ///< |near - far| counts where it is less than |anchor - far|
};

struct CtcOptions {
  LossReduction reduction = LossReduction::mean;
  std::int64_t blank = 0;      ///< a class that is no label
  bool zero_infinity = false;  ///< what cannot be spelled counts 0 instead of infinity
};

}  // namespace penstock
