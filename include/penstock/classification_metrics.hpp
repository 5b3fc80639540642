// These metrics of a classification are computed from a confusion matrix, or from the order of all
// scores. All of them are for fit() and evaluate(). A ConfusionMatrix is a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/metric.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// An Average says how the precision, the recall or the F1 score of several classes becomes one
/// number, as the argument `average` of scikit-learn does.
enum class Average : std::uint8_t {
  macro,   ///< The number is the mean over the classes that occur among labels or predictions.
  micro,   ///< The number is that of the counts of all classes together.
  binary,  ///< The number is that of ClassificationOptions::positive_class alone.
};

/// ClassificationOptions say what precision(), recall() and f1_score() compute.
struct ClassificationOptions {
  Average average = Average::macro;  ///< `average` says how classes become one number.
  /// Average::binary is about this class.
  std::int64_t positive_class = 1;
  /// If the model returns one score per sample, the sample is predicted to be of class 1 if its
  /// score is at least this number, and of class 0 otherwise. A probability has the threshold 0.5,
  /// and a logit has the threshold 0.
  double threshold = 0.5;
};

/// A ConfusionMatrix counts the samples of each class by the class that they are predicted to be
/// of. A quotient whose divisor is 0, such as the precision of a class that is never predicted,
/// counts as 0, as in scikit-learn. Every number is nan if no sample was counted.
class ConfusionMatrix {
 public:
  /// Returns the matrix whose counts() are `counts`. @throws Error shape_mismatch unless `counts`
  /// is i64 [classes,classes]; invalid_data for a negative number, and for more than 2^53 samples.
  static ConfusionMatrix from_counts(const Tensor& counts);
  /// Counts the samples with these scores and labels. Scores are f32 [N,classes], and the class
  /// with the highest score is predicted, which is the first one if several scores are equal; or
  /// they are f32 [N] or [N,1], and `threshold` decides as ClassificationOptions::threshold. Labels
  /// are [M] of type i64, i32 or u8 with N <= M, and the scores belong to the last N labels.
  /// @throws Error shape_mismatch for tensors of other types or shapes, and for another number of
  /// classes than before; invalid_data for a label that is not the number of a class. Nothing is
  /// counted then.
  void add(const Tensor& scores, const Tensor& labels, double threshold = 0.5);
  /// Adds the counts of `other`. @throws Error shape_mismatch if `other` has another number of
  /// classes.
  ConfusionMatrix& operator+=(const ConfusionMatrix& other);

  /// Returns the number of classes, which is 0 before the first sample was added.
  std::int64_t classes() const noexcept { return classes_; }
  /// Returns how many samples of the class `label` are predicted to be of class `predicted`.
  /// @throws Error invalid_argument if there is no such class.
  std::int64_t count(std::int64_t label, std::int64_t predicted) const;
  /// Returns all counts, i64 [classes,classes]: a row for each label, and a column for each
  /// predicted class.
  Tensor counts() const;

  /// Returns the share of all samples that are predicted to be of their own class.
  double accuracy() const;
  /// Returns the share of the samples predicted to be of a class that are of the class.
  /// @throws Error invalid_argument if there is no `positive_class`.
  double precision(const ClassificationOptions& options = {}) const;
  /// Returns the share of the samples of a class that are predicted to be of the class. @throws
  /// Error as precision().
  double recall(const ClassificationOptions& options = {}) const;
  /// Returns the harmonic mean of the precision and the recall of a class, 2 TP / (2 TP + FP + FN).
  /// @throws Error as precision().
  double f1_score(const ClassificationOptions& options = {}) const;

 private:
  std::int64_t classes_ = 0;
  std::vector<std::int64_t> counts_;  // `counts_` is [classes_,classes_], row by row.
};

/// Returns the metric "precision" of the scores that are the output called `output`. The labels are
/// the last field of the batch. Scores, labels and the metric's check are as ConfusionMatrix::add()
/// and accuracy() say.
Metric precision(const std::string& output, const ClassificationOptions& options = {});
/// Returns the metric "recall"; see precision().
Metric recall(const std::string& output, const ClassificationOptions& options = {});
/// Returns the metric "f1_score"; see precision().
Metric f1_score(const std::string& output, const ClassificationOptions& options = {});

/// Returns the metric "roc_auc", the area under the receiver operating characteristic: the
/// probability that a sample of class 1 has a higher score than a sample of class 0, where equal
/// scores count as one half. The number is exact. The scores are the output called `output`, f32
/// [N], [N,1] or [N,2]; of two scores, the second minus the first counts, which orders the samples
/// as their softmax does. The labels, which are the last field of the batch, are 0 or 1, of type
/// i64, i32 or u8. The value is nan if a score is nan, or if one of the classes has no sample. The
/// metric keeps 8 bytes for each sample of an epoch. Its check is that of accuracy().
Metric roc_auc(const std::string& output);

}  // namespace penstock
