// These are the options of a Model's losses: how the terms of a loss become a number, and the
// constants of the formulas. They are values with PyTorch's defaults.
#pragma once

#include <cstdint>

#include "penstock/standard.hpp"
#include "penstock/value.hpp"

namespace penstock {

/// A LossReduction says how the terms of a loss become a number. The mean is over all terms, or
/// over the targets that are not ignored. `none` keeps the terms apart; training on them means
/// training on their sum.
enum class LossReduction : std::uint8_t { mean, sum, none };

/// CrossEntropyOptions are the options of Model::cross_entropy().
struct CrossEntropyOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// This share of each target, from 0 to 1, is spread evenly over all classes.
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;  ///< A label of this number counts for nothing.
  /// The classes are along this axis of the logits, where axis 0 counts samples. A negative axis
  /// counts from the end: -1 is for logits [N,T,C] of sequences.
  int class_axis = 1;
  /// `from_logits` says whether the input `logits` holds logits. If not, it holds probabilities,
  /// which are clipped to [1e-7, 1 - 1e-7] and turned into logits by the logarithm, as Keras does
  /// it.
  bool from_logits = true;
  /// A value [C], such as a constant(), multiplies the terms of each class by its weight. A mean is
  /// then divided by the sum of the weights of the labels. The weights have no gradient: a training
  /// is refused if they depend on a parameter that it trains.
  Value weight = {};
};

/// SmoothL1Options are the options of Model::smooth_l1_loss().
struct SmoothL1Options {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// The loss is a parabola for differences below this number, which is 0 or more.
  double beta = 1;
};

/// HuberOptions are the options of Model::huber_loss().
struct HuberOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// The loss is a parabola for differences up to this number, which is above 0.
  double delta = 1;
};

/// GaussianNllOptions are the options of Model::gaussian_nll_loss().
struct GaussianNllOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  bool full = false;  ///< `full` says whether log(2π)/2 is added.
  double eps = 1e-6;  ///< Variances below this number, which is above 0, count as this number.
};

/// MultiMarginOptions are the options of Model::multi_margin_loss().
struct MultiMarginOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  double margin = 1;  ///< The score of the label should be larger than others by this number.
  int p = 1;          ///< What a score lacks is raised to this power, 1 or 2.
  /// A value [C], such as a constant(), multiplies the terms of each class by its weight. It has no
  /// gradient, as CrossEntropyOptions::weight has none.
  Value weight = {};
};

/// KlDivOptions are the options of Model::kl_div_loss().
struct KlDivOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// `log_target` says whether the target holds log-probabilities.
  bool log_target = false;
};

/// PoissonNllOptions are the options of Model::poisson_nll_loss().
struct PoissonNllOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  bool log_input = true;  ///< `log_input` says whether x is the logarithm of the rate.
  /// `full` says whether Stirling's approximation of log(target!) is added.
  bool full = false;
  double eps = 1e-8;  ///< `eps`, 0 or more, is added to the rate before its logarithm is taken.
};

/// HingeOptions are the options of Model::hinge_embedding_loss().
struct HingeOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// An x whose target is -1 costs nothing if x is at least this number.
  double margin = 1;
};

/// MarginOptions are the options of Model::cosine_embedding_loss() and
/// Model::margin_ranking_loss().
struct MarginOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  double margin = 0;  ///< `margin` is the margin in the formula of the loss.
};

/// TripletMarginOptions are the options of Model::triplet_margin_loss().
struct TripletMarginOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// `margin` is the margin in the formula of the loss. It is more than 0.
  double margin = 1;
  int p = 2;          ///< Distances are measured by this norm, 1 or 2.
  double eps = 1e-6;  ///< `eps`, 0 or more, is added to each difference.
  /// `swap` says whether |near - far| is used where it is less than |anchor - far|.
  bool swap = false;
};

/// CtcOptions are the options of Model::ctc_loss().
struct CtcOptions {
  /// `reduction` says how the loss's terms become a number.
  LossReduction reduction = LossReduction::mean;
  /// `blank` is the number of the blank class, which no label may be.
  std::int64_t blank = 0;
  /// `zero_infinity` says whether a loss that is infinite, because its labels cannot be spelled in
  /// its steps, counts as 0.
  bool zero_infinity = false;
};

}  // namespace penstock
