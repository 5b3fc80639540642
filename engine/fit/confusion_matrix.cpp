#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "engine/fit/saved_numbers.hpp"
#include "engine/fit/scored_labels.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/classification_metrics.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::string_view matrix_subject = "confusion matrix";

/// A ClassCounts says how many samples are predicted to be of a class, how many are of the class,
/// and how many are both.
struct ClassCounts {
  std::int64_t correct = 0, predicted = 0, labelled = 0;

  void operator+=(const ClassCounts& other) {
    correct += other.correct;
    predicted += other.predicted;
    labelled += other.labelled;
  }
};

/// Returns dividend / divisor, or 0 if the divisor is 0.
double quotient(std::int64_t dividend, std::int64_t divisor) {
  return divisor == 0 ? 0 : static_cast<double>(dividend) / static_cast<double>(divisor);
}

double precision_of(const ClassCounts& counts) {
  return quotient(counts.correct, counts.predicted);
}

double recall_of(const ClassCounts& counts) {
  return quotient(counts.correct, counts.labelled);
}

double f1_score_of(const ClassCounts& counts) {
  return quotient(2 * counts.correct, counts.predicted + counts.labelled);
}

/// Returns the counts of each class of the matrix `counts`, which is [classes,classes].
std::vector<ClassCounts> class_counts(std::span<const std::int64_t> counts, std::size_t classes) {
  std::vector<ClassCounts> of_class(classes);
  for (std::size_t label = 0; label < classes; ++label)
    for (std::size_t predicted = 0; predicted < classes; ++predicted) {
      const std::int64_t count = counts[label * classes + predicted];
      of_class[label].labelled += count;
      of_class[predicted].predicted += count;
      if (label == predicted) of_class[label].correct = count;
    }
  return of_class;
}

double macro_average(std::span<const ClassCounts> classes,
                     double (*number_of)(const ClassCounts&)) {
  double sum = 0;
  std::int64_t occurring = 0;
  for (const ClassCounts& counts : classes) {
    if (counts.predicted + counts.labelled == 0) continue;
    sum += number_of(counts);
    ++occurring;
  }
  return sum / static_cast<double>(occurring);
}

void expect_class(const std::string& name, std::int64_t got, std::int64_t classes) {
  if (got >= 0 && got < classes) return;
  throw Error(Errc::invalid_argument,
              std::string(matrix_subject) + ": " + name + ": expected the number of one of " +
                  std::to_string(classes) + " classes, got " + std::to_string(got));
}

/// Returns the number that `options` ask for, which `number_of` computes for one class, or nan if
/// nothing was counted.
double averaged(std::span<const std::int64_t> counts, std::int64_t classes,
                const ClassificationOptions& options, double (*number_of)(const ClassCounts&)) {
  if (std::ranges::all_of(counts, [](std::int64_t count) { return count == 0; }))
    return std::numeric_limits<double>::quiet_NaN();
  const std::vector<ClassCounts> of_class = class_counts(counts, static_cast<std::size_t>(classes));
  switch (options.average) {
    case Average::macro:
      return macro_average(of_class, number_of);
    case Average::micro: {
      ClassCounts all;
      for (const ClassCounts& one : of_class) all += one;
      return number_of(all);
    }
    default:
      expect_class("positive_class", options.positive_class, classes);
      return number_of(of_class[static_cast<std::size_t>(options.positive_class)]);
  }
}

/// Returns which class each of the samples is predicted to be of.
std::vector<std::int64_t> predicted_classes(const ScoredSamples& samples, double threshold) {
  std::vector<std::int64_t> predicted;
  for (std::size_t i = 0; i < samples.size(); ++i)
    predicted.push_back(samples.columns > 1 ? highest(samples.row(i))
                                            : samples.row(i)[0] >= threshold);
  return predicted;
}

void expect_labels(std::span<const std::int64_t> labels, std::int64_t classes) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= classes)
      throw Error(Errc::invalid_data, std::string(matrix_subject) + ": expected labels from 0 to " +
                                          std::to_string(classes - 1) + ", got " +
                                          std::to_string(labels[i]) + " as label " +
                                          std::to_string(i));
}

/// Checks that `counts` are counts of samples, whose sum is so small that none overflows.
void expect_countable(std::span<const std::int64_t> counts) {
  std::int64_t left = most_counted;
  for (const std::int64_t count : counts) {
    if (count < 0)
      throw Error(Errc::invalid_data, std::string(matrix_subject) +
                                          ": expected counts of 0 or more, got " +
                                          std::to_string(count));
    if (count > left)
      throw Error(Errc::invalid_data, std::string(matrix_subject) +
                                          ": expected counts of at most " +
                                          std::to_string(most_counted) + " samples, got more");
    left -= count;
  }
}

void expect_classes(std::int64_t expected, std::int64_t got) {
  if (expected == 0 || got == expected) return;
  throw Error(Errc::shape_mismatch, std::string(matrix_subject) + ": expected " +
                                        std::to_string(expected) + " classes as before, got " +
                                        std::to_string(got));
}

}  // namespace

ConfusionMatrix ConfusionMatrix::from_counts(const Tensor& counts) {
  return on_hosts_thread("ConfusionMatrix::from_counts", [&] {
    const bool is_square = counts && counts.dtype() == DType::i64 && counts.shape().rank() == 2 &&
                           counts.shape()[0] == counts.shape()[1];
    if (!is_square)
      throw Error(
          Errc::shape_mismatch,
          std::string(matrix_subject) + ": expected counts i64 [classes,classes], got " +
              (counts ? std::string(to_string(counts.dtype())) + ' ' + to_string(counts.shape())
                      : "an empty tensor"));
    const auto numbers = counts.as<std::int64_t>();
    expect_countable(numbers);
    ConfusionMatrix matrix;
    matrix.classes_ = counts.shape()[0];
    matrix.counts_.assign(numbers.begin(), numbers.end());
    return matrix;
  });
}

void ConfusionMatrix::add(const Tensor& scores, const Tensor& labels, double threshold) {
  on_hosts_thread("ConfusionMatrix::add", [&] {
    const ScoredSamples samples =
        scored_samples(matrix_subject, scores, labels, ScoreShapes::rows_or_numbers);
    const auto classes =
        samples.columns > 1 ? static_cast<std::int64_t>(samples.columns) : std::int64_t{2};
    expect_classes(classes_, classes);
    expect_labels(samples.labels, classes);
    const std::vector<std::int64_t> predicted = predicted_classes(samples, threshold);
    counts_.resize(static_cast<std::size_t>(classes * classes));
    classes_ = classes;
    for (std::size_t i = 0; i < samples.size(); ++i)
      ++counts_[static_cast<std::size_t>(samples.labels[i] * classes + predicted[i])];
  });
}

ConfusionMatrix& ConfusionMatrix::operator+=(const ConfusionMatrix& other) {
  on_hosts_thread("ConfusionMatrix", [&] {
    if (other.classes_ == 0) return;
    expect_classes(classes_, other.classes_);
    counts_.resize(other.counts_.size());
    classes_ = other.classes_;
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  });
  return *this;
}

std::int64_t ConfusionMatrix::count(std::int64_t label, std::int64_t predicted) const {
  return on_hosts_thread("ConfusionMatrix::count", [&] {
    expect_class("label", label, classes_);
    expect_class("predicted", predicted, classes_);
    return counts_[static_cast<std::size_t>(label * classes_ + predicted)];
  });
}

Tensor ConfusionMatrix::counts() const {
  return on_hosts_thread("ConfusionMatrix::counts", [&] {
    return Tensor({classes_, classes_}, std::span<const std::int64_t>(counts_));
  });
}

double ConfusionMatrix::accuracy() const {
  return recall({.average = Average::micro});
}

double ConfusionMatrix::precision(const ClassificationOptions& options) const {
  return on_hosts_thread("ConfusionMatrix::precision",
                         [&] { return averaged(counts_, classes_, options, precision_of); });
}

double ConfusionMatrix::recall(const ClassificationOptions& options) const {
  return on_hosts_thread("ConfusionMatrix::recall",
                         [&] { return averaged(counts_, classes_, options, recall_of); });
}

double ConfusionMatrix::f1_score(const ClassificationOptions& options) const {
  return on_hosts_thread("ConfusionMatrix::f1_score",
                         [&] { return averaged(counts_, classes_, options, f1_score_of); });
}

}  // namespace penstock
