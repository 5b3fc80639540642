#include "penstock/metric.hpp"

#include <cmath>
#include <string_view>

#include "engine/fit/metric_states.hpp"
#include "engine/fit/saved_numbers.hpp"
#include "engine/fit/scored_labels.hpp"
#include "engine/fit/scores.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::string_view accuracy_name = "accuracy";

std::int64_t counted_correct(const Tensor& scores, const Tensor& labels) {
  const ScoredSamples samples = scored_samples(accuracy_name, scores, labels, ScoreShapes::rows);
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    correct += highest(samples.row(i)) == samples.labels[i];
  return correct;
}

/// Returns a metric that is a mean. The host may call its functions outside of fit(), too: they
/// compute with the settings for floats that the engine's calls have.
Metric mean_metric(std::string_view name, const auto& score, const auto& check) {
  return {.name = std::string(name),
          .score =
              [score](const StepResult& result, const Batch& batch) {
                return on_hosts_thread(metric_subject, [&] { return score(result, batch); });
              },
          .check = check_on_hosts_thread(check)};
}

/// A PerplexityCounter counts the mean of an output that is a loss; its value is e to the power of
/// that mean.
struct PerplexityCounter {
  std::string output;
  Score loss = {};

  void add(const StepResult& result, const Batch&) {
    loss += score_of(result.output(output), result.rows);
  }
  void merge(const PerplexityCounter& other) { loss += other.loss; }
  double value() const { return std::exp(loss.mean()); }
  SavedState save() const { return saved(loss); }
  void load(const SavedState& state) { loss = score_in(state); }
};

/// Returns the accuracy of the output called `output`, for the labels that `labels_in(batch)`
/// returns.
Metric accuracy_by(const std::string& output, const auto& labels_in) {
  const auto score = [output, labels_in](const StepResult& result, const Batch& batch) {
    const Tensor& scores = result.output(output);
    const Tensor labels = labels_of(accuracy_name, result.rows, labels_in(batch));
    const std::int64_t correct = counted_correct(scores, labels);
    return Score{static_cast<double>(correct), scores.shape()[0]};
  };
  return mean_metric(accuracy_name, score, [output](const StepResult& outline) {
    outline.output(output);
    expect_single_samples(accuracy_name, outline.rows);
  });
}

[[noreturn]] void refuse_checkpoints(const char* function) {
  throw Error(Errc::unsupported,
              std::string("its state cannot be kept in a checkpoint, because its class does not "
                          "override MetricState::") +
                  function);
}

}  // namespace

SavedState MetricState::save() const {
  refuse_checkpoints("save");
}

void MetricState::load(const SavedState&) {
  refuse_checkpoints("load");
}

Score& Score::operator+=(const Score& other) noexcept {
  const CanonicalFloats floats;  // The host's thread may have another floating-point environment.
  sum += other.sum;
  count += other.count;
  return *this;
}

double Score::mean() const noexcept {
  const CanonicalFloats floats;
  return sum / static_cast<double>(count);
}

std::int64_t count_correct(const Tensor& scores, const Tensor& labels) {
  return on_hosts_thread("count_correct", [&] { return counted_correct(scores, labels); });
}

Metric accuracy(const std::string& output) {
  return or_out_of_memory("accuracy", [&] { return accuracy_by(output, last_field); });
}

Metric accuracy(const std::string& output, std::size_t labels) {
  return or_out_of_memory("accuracy", [&] {
    return accuracy_by(output, [labels](const Batch& batch) {
      if (labels < batch.size()) return batch[labels];
      throw Error(Errc::invalid_argument, "accuracy: expected labels in field " +
                                              std::to_string(labels) + ", got a batch of " +
                                              count_text(std::ssize(batch), "field"));
    });
  });
}

Metric mean_of(const std::string& output) {
  return or_out_of_memory("mean_of", [&] {
    const auto score = [output](const StepResult& result, const Batch&) {
      return score_of(result.output(output), result.rows);
    };
    return mean_metric(output, score,
                       [output](const StepResult& outline) { outline.output(output); });
  });
}

Metric perplexity(const std::string& output) {
  return or_out_of_memory("perplexity", [&] {
    return metric_of("perplexity", PerplexityCounter{output},
                     [output](const StepResult& outline) { outline.output(output); });
  });
}

}  // namespace penstock
