// These are the options of a Model's losses: how the terms of a loss become a number, and the
// constants of the formulas. They are values with PyTorch's defaults.
#pragma once

#include <cstdint>

#include "penstock/standard.hpp"

namespace penstock {

/// Says how the terms of a loss become a number. The mean is over all terms, or over the targets
/// that are not ignored. `none` keeps the terms apart; training on them means training on their
/// sum.
enum class LossReduction : std::uint8_t { mean, sum, none };

/// Holds the options of Model::cross_entropy().
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// Spreads this share of each target evenly over all classes; 0 to 1.
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;  ///< Labels with this number count for nothing.
  /// Says whether the input `logits` holds logits. If not, it holds probabilities, which are
  /// clipped to [1e-7, 1 - 1e-7] and turned into logits by the logarithm, as Keras does it.
  bool from_logits = true;
};

/// Holds the options of Model::smooth_l1_loss().
struct SmoothL1Options {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// The loss is a parabola for differences below this number, which is 0 or more.
  double beta = 1;
};

/// Holds the options of Model::kl_div_loss().
struct KlDivOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// Says whether the target holds log-probabilities.
  bool log_target = false;
};

/// Holds the options of Model::poisson_nll_loss().
struct PoissonNllOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  bool log_input = true;                          ///< Says whether x is the logarithm of the rate.
  /// Says whether Stirling's approximation of log(target!) is added.
  bool full = false;
  double eps = 1e-8;  ///< Is added to the rate before its logarithm is taken; 0 or more.
};

/// Holds the options of Model::hinge_embedding_loss().
struct HingeOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// An x whose target is -1 costs nothing if x is at least this number.
  double margin = 1;
};

/// Holds the options of Model::cosine_embedding_loss() and Model::margin_ranking_loss().
struct MarginOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  double margin = 0;                              ///< Is the margin in the formula of the loss.
};

/// Holds the options of Model::triplet_margin_loss().
struct TripletMarginOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// Is the margin in the formula of the loss; more than 0.
  double margin = 1;
  int p = 2;          ///< Distances are measured by this norm, 1 or 2.
  double eps = 1e-6;  ///< Is added to each difference; 0 or more.
  bool swap = false;  ///< Says whether |near - far| is used where it is less than |anchor - far|.
};

/// Holds the options of Model::ctc_loss().
struct CtcOptions {
  LossReduction reduction = LossReduction::mean;  ///< Says how the loss's terms become a number.
  /// Is the number of the blank class, which no label may be.
  std::int64_t blank = 0;
  /// Says whether a loss that is infinite, because its labels cannot be spelled in its steps,
  /// counts as 0.
  bool zero_infinity = false;
};

}  // namespace penstock
