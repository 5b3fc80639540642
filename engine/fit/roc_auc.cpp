#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fit/metric_states.hpp"
#include "engine/fit/saved_numbers.hpp"
#include "engine/fit/scored_labels.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/classification_metrics.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::string_view auc_name = "roc_auc";

/// Returns the number of pairs of a negative and a positive number in which the positive one is
/// greater, counted twice, plus the number of pairs in which both are equal. Both lists are in
/// ascending order.
std::int64_t doubled_wins(const std::vector<double>& negatives,
                          const std::vector<double>& positives) {
  std::int64_t doubled = 0;
  auto less = negatives.begin(), not_greater = negatives.begin();
  for (const double positive : positives) {
    while (less != negatives.end() && *less < positive) ++less;
    while (not_greater != negatives.end() && *not_greater <= positive) ++not_greater;
    doubled += (less - negatives.begin()) + (not_greater - negatives.begin());
  }
  return doubled;
}

/// An AucCounter keeps the scores of all samples.
class AucCounter {
 public:
  explicit AucCounter(const std::string& output) : output_(output) {}

  void add(const StepResult& result, const Batch& batch) {
    const Tensor labels = labels_of(auc_name, result.rows, last_field(batch));
    const ScoredSamples samples =
        scored_samples(auc_name, result.output(output_), labels, ScoreShapes::rows_or_numbers);
    expect_two_classes(samples);
    for (std::size_t i = 0; i < samples.size(); ++i)
      of_class_[static_cast<std::size_t>(samples.labels[i])].push_back(
          score_of_sample(samples.row(i)));
  }

  void merge(const AucCounter& other) {
    for (const std::size_t label : {0, 1})
      of_class_[label].insert(of_class_[label].end(), other.of_class_[label].begin(),
                              other.of_class_[label].end());
  }

  SavedState save() const {
    return {.tensors = {{"negatives", tensor_of_bits(of_class_[0])},
                        {"positives", tensor_of_bits(of_class_[1])}}};
  }

  void load(const SavedState& state) {
    for (const std::size_t label : {0, 1}) {
      of_class_[label].clear();
      for (const std::int64_t bits : whole_numbers(state, label == 0 ? "negatives" : "positives"))
        of_class_[label].push_back(number_of(bits));
    }
  }

  double value() const {
    std::vector<double> negatives = of_class_[0], positives = of_class_[1];
    const auto is_nan = [](double score) { return std::isnan(score); };
    if (negatives.empty() || positives.empty() || std::ranges::any_of(negatives, is_nan) ||
        std::ranges::any_of(positives, is_nan))
      return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(negatives);
    std::ranges::sort(positives);
    const double pairs =
        static_cast<double>(negatives.size()) * static_cast<double>(positives.size());
    return static_cast<double>(doubled_wins(negatives, positives)) / (2 * pairs);
  }

 private:
  static double score_of_sample(std::span<const float> scores) {
    if (scores.size() == 1) return scores[0];
    return static_cast<double>(scores[1]) - static_cast<double>(scores[0]);
  }

  static void expect_two_classes(const ScoredSamples& samples) {
    if (samples.columns > 2)
      throw Error(Errc::shape_mismatch, std::string(auc_name) +
                                            ": expected scores of 1 or 2 classes, got those of " +
                                            std::to_string(samples.columns));
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (samples.labels[i] != 0 && samples.labels[i] != 1)
        throw Error(Errc::invalid_data,
                    std::string(auc_name) + ": expected labels of 0 or 1, got " +
                        std::to_string(samples.labels[i]) + " as label " + std::to_string(i));
  }

  std::string output_;
  std::array<std::vector<double>, 2> of_class_;
};

}  // namespace

Metric roc_auc(const std::string& output) {
  return or_out_of_memory(auc_name, [&] {
    return metric_of(auc_name, AucCounter(output), [output](const StepResult& outline) {
      outline.output(output);
      expect_single_samples(auc_name, outline.rows);
    });
  });
}

}  // namespace penstock
