#include "penstock/classification_metrics.hpp"

#include <cmath>
#include <string_view>

#include "engine/fit/metric_states.hpp"
#include "engine/fit/scored_labels.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// This is ConfusionMatrix::precision, recall or f1_score.
using MatrixNumber = double (ConfusionMatrix::*)(const ClassificationOptions&) const;

/// A MatrixCounter counts a confusion matrix.
struct MatrixCounter {
  std::string_view metric;  ///< `metric` is a literal, the name of the metric.
  MatrixNumber number;
  std::string output;
  ClassificationOptions options;
  ConfusionMatrix matrix = {};

  void add(const StepResult& result, const Batch& batch) {
    matrix.add(result.output(output), labels_of(metric, result.rows, last_field(batch)),
               options.threshold);
  }
  void merge(const MatrixCounter& other) { matrix += other.matrix; }
  double value() const { return (matrix.*number)(options); }
  SavedState save() const { return {.tensors = {{"counts", matrix.counts()}}}; }
  void load(const SavedState& state) {
    matrix = ConfusionMatrix::from_counts(state.tensor("counts"));
  }
};

void check_options(std::string_view metric, const ClassificationOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(metric) + ": " + what);
  };
  if (options.positive_class < 0)
    refuse("positive_class: expected 0 or more, got " + std::to_string(options.positive_class));
  if (std::isnan(options.threshold))
    refuse("threshold: expected a number, got " + number_text(options.threshold));
}

Metric matrix_metric(std::string_view name, MatrixNumber number, const std::string& output,
                     const ClassificationOptions& options) {
  return or_out_of_memory(name, [&] {
    check_options(name, options);
    return metric_of(name, MatrixCounter{name, number, output, options},
                     [name, output](const StepResult& outline) {
                       outline.output(output);
                       expect_single_samples(name, outline.rows);
                     });
  });
}

}  // namespace

Metric precision(const std::string& output, const ClassificationOptions& options) {
  return matrix_metric("precision", &ConfusionMatrix::precision, output, options);
}

Metric recall(const std::string& output, const ClassificationOptions& options) {
  return matrix_metric("recall", &ConfusionMatrix::recall, output, options);
}

Metric f1_score(const std::string& output, const ClassificationOptions& options) {
  return matrix_metric("f1_score", &ConfusionMatrix::f1_score, output, options);
}

}  // namespace penstock
