#include "penstock/metric.hpp"

#include <algorithm>
#include <vector>

#include "engine/fit/scores.hpp"
#include "engine/rows.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string text_of(const Tensor& tensor) {
  return tensor ? std::string(to_string(tensor.dtype())) + to_string(tensor.shape())
                : "an empty tensor";
}

[[noreturn]] void refuse_scores(const Tensor& scores, const Tensor& labels) {
  throw Error(Errc::shape_mismatch,
              "accuracy: expected scores f32 [N,classes] and labels i64 [M], or i32 or u8, with N "
              "<= M, got " +
                  text_of(scores) + " and " + text_of(labels));
}

void check_scores(const Tensor& scores, const Tensor& labels) {
  if (!scores || !labels) refuse_scores(scores, labels);
  const bool integers =
      labels.dtype() == DType::i64 || labels.dtype() == DType::i32 || labels.dtype() == DType::u8;
  const bool types = scores.dtype() == DType::f32 && integers;
  const bool ranks = scores.shape().rank() == 2 && labels.shape().rank() == 1;
  if (!types || !ranks || scores.shape()[0] > labels.shape()[0] || scores.shape()[1] == 0)
    refuse_scores(scores, labels);
}

/// Returns the last round of each `rows.period` rounds of `labels`, or all of `labels` if they have
/// fewer rounds.
Tensor every_nth(const OutputRows& rows, const Tensor& labels) {
  if (rows.round < 1 || rows.period < 1)
    throw Error(Errc::invalid_argument,
                "accuracy: expected rounds of 1 row or more and a period of 1 or more, got " +
                    std::to_string(rows.round) + " and " + std::to_string(rows.period));
  // The loop counts rounds and not rows, because the product of a round and a period that the host
  // has chosen may overflow.
  const std::int64_t round = rows.round, rounds = labels.shape()[0] / round;
  std::vector<Tensor> parts;
  for (std::int64_t left = rounds, end = 0; left >= rows.period; left -= rows.period) {
    end += round * rows.period;
    parts.push_back(labels.rows(end - round, end));
  }
  return parts.empty() ? labels : join_rows(parts);
}

void expect_single_samples(const OutputRows& rows) {
  if (rows.mode == OutputMode::sum)
    throw Error(Errc::invalid_argument,
                "accuracy: expected the scores of single samples, as output mode all, final or "
                "every_n returns them, got sum");
  if (rows.copies > 1)
    throw Error(Errc::invalid_argument,
                "accuracy: expected the scores of each sample once, got those of input groups of " +
                    std::to_string(rows.copies) + " replicas");
}

/// Returns labels whose last rows belong to the rows of the outputs.
Tensor labels_of(const OutputRows& rows, const Tensor& labels) {
  expect_single_samples(rows);
  if (rows.mode != OutputMode::every_n || !labels || labels.shape().rank() != 1) return labels;
  return every_nth(rows, labels);
}

/// Counts the rows of `scores` that have their highest score at their label. The labels are of the
/// type T, and the last of them belong to the rows.
template <class T>
std::int64_t count_rows(const Tensor& scores, const Tensor& labels) {
  const auto classes = static_cast<std::size_t>(scores.shape()[1]);
  const auto rows = static_cast<std::size_t>(scores.shape()[0]);
  const auto score = scores.as<float>();
  const auto label = labels.as<T>().last(rows);
  std::int64_t correct = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row = score.subspan(row * classes, classes);
    correct += std::max_element(of_row.begin(), of_row.end()) - of_row.begin() == label[row];
  }
  return correct;
}

std::int64_t counted_correct(const Tensor& scores, const Tensor& labels) {
  check_scores(scores, labels);
  if (labels.dtype() == DType::u8) return count_rows<std::uint8_t>(scores, labels);
  if (labels.dtype() == DType::i32) return count_rows<std::int32_t>(scores, labels);
  return count_rows<std::int64_t>(scores, labels);
}

/// Returns a metric with functions that the host may call directly, too.
Metric metric_of(std::string_view name, const auto& score, const auto& check) {
  return {.name = std::string(name),
          .score =
              [score](const StepResult& result, const Batch& batch) {
                return on_hosts_thread("a metric", [&] { return score(result, batch); });
              },
          .check =
              [check](const StepResult& outline) {
                on_hosts_thread("a metric", [&] { check(outline); });
              }};
}

/// Returns the accuracy of the output called `output`, for the labels that `labels_in(batch)`
/// returns.
Metric accuracy_by(const std::string& output, const auto& labels_in) {
  const auto score = [output, labels_in](const StepResult& result, const Batch& batch) {
    const Tensor& scores = result.output(output);
    const Tensor labels = labels_of(result.rows, labels_in(batch));
    return Score{static_cast<double>(counted_correct(scores, labels)), scores.shape()[0]};
  };
  return metric_of("accuracy", score, [output](const StepResult& outline) {
    outline.output(output);
    expect_single_samples(outline.rows);
  });
}

}  // namespace

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
  return or_out_of_memory("accuracy", [&] {
    return accuracy_by(output,
                       [](const Batch& batch) { return batch.empty() ? Tensor() : batch.back(); });
  });
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
    return metric_of(output, score,
                     [output](const StepResult& outline) { outline.output(output); });
  });
}

}  // namespace penstock
