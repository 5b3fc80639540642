// What the losses of a Model may be told: how they become a number, and the constants of their
// formulas. Values; PyTorch's defaults.
#pragma once

#include <cstdint>

namespace penstock {

/// How a loss becomes a number: over all its terms, or over the targets that are not ignored.
/// `none` keeps the terms apart; training on it is training on their sum.
enum class LossReduction : std::uint8_t { mean, sum, none };

/// These are the options of Model::cross_entropy().
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  double label_smoothing = 0;                     ///< 0 to 1
  std::int64_t ignore_index = -100;               ///< a label that counts for nothing
  /// false: x are probabilities, clipped to [1e-7, 1 - 1e-7] and made logits by the logarithm, as
  /// Keras does it.
  bool from_logits = true;
};

/// These are the options of Model::smooth_l1_loss().
struct SmoothL1Options {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  double beta = 1;                                ///< 0 or more: where the parabola ends
};

/// These are the options of Model::kl_div_loss().
struct KlDivOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  bool log_target = false;                        ///< the target holds log-probabilities
};

/// These are the options of Model::poisson_nll_loss().
struct PoissonNllOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  bool log_input = true;                          ///< x is the logarithm of the rate
  bool full = false;                              ///< add Stirling's approximation of log(target!)
  double eps = 1e-8;  ///< 0 or more; added to the rate before its logarithm is taken
};

/// These are the options of Model::hinge_embedding_loss().
struct HingeOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  double margin = 1;                              ///< An x of target -1 costs nothing from here on.
};

/// These are the options of Model::cosine_embedding_loss() and Model::margin_ranking_loss().
struct MarginOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  double margin = 0;                              ///< The loss's formula names it.
};

/// These are the options of Model::triplet_margin_loss().
struct TripletMarginOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  double margin = 1;                              ///< more than 0
  int p = 2;                                      ///< the norm that is the distance: 1 or 2
  double eps = 1e-6;                              ///< 0 or more; added to each difference
  bool swap = false;  ///< |near - far| counts where it is less than |anchor - far|
};

/// These are the options of Model::ctc_loss().
struct CtcOptions {
  LossReduction reduction = LossReduction::mean;  ///< The terms become a number in this way.
  std::int64_t blank = 0;                         ///< a class that is no label
  bool zero_infinity = false;  ///< what cannot be spelled counts 0 instead of infinity
};

}  // namespace penstock
