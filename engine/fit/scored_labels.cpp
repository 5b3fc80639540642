#include "engine/fit/scored_labels.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/rows.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string text_of(const Tensor& tensor) {
  return tensor ? std::string(to_string(tensor.dtype())) + to_string(tensor.shape())
                : "an empty tensor";
}

bool are_scores(const Tensor& scores, ScoreShapes shapes) {
  if (!scores || scores.dtype() != DType::f32) return false;
  const Shape& shape = scores.shape();
  return shape.rank() == 2 ? shape[1] > 0
                           : shape.rank() == 1 && shapes == ScoreShapes::rows_or_numbers;
}

bool are_labels(const Tensor& labels) {
  if (!labels || labels.shape().rank() != 1) return false;
  const DType dtype = labels.dtype();
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::u8;
}

/// Returns the last `count` elements of `labels`, which are of the type T.
template <class T>
std::vector<std::int64_t> last_elements(const Tensor& labels, std::size_t count) {
  const auto elements = labels.as<T>().last(count);
  return {elements.begin(), elements.end()};
}

std::vector<std::int64_t> last_labels(const Tensor& labels, std::size_t count) {
  if (labels.dtype() == DType::u8) return last_elements<std::uint8_t>(labels, count);
  if (labels.dtype() == DType::i32) return last_elements<std::int32_t>(labels, count);
  return last_elements<std::int64_t>(labels, count);
}

/// Returns the last round of each `rows.period` rounds of `labels`, or all of `labels` if they have
/// fewer rounds.
Tensor every_nth(std::string_view subject, const OutputRows& rows, const Tensor& labels) {
  if (rows.round < 1 || rows.period < 1)
    throw Error(Errc::invalid_argument,
                std::string(subject) +
                    ": expected rounds of 1 row or more and a period of 1 or more, got " +
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

}  // namespace

ScoredSamples scored_samples(std::string_view subject, const Tensor& scores, const Tensor& labels,
                             ScoreShapes shapes) {
  if (!are_scores(scores, shapes) || !are_labels(labels) || scores.shape()[0] > labels.shape()[0])
    throw Error(Errc::shape_mismatch,
                std::string(subject) + ": expected scores f32 [N,classes]" +
                    (shapes == ScoreShapes::rows_or_numbers ? " or [N]" : "") +
                    " and labels i64 [M], or i32 or u8, with N <= M, got " + text_of(scores) +
                    " and " + text_of(labels));
  const Shape& shape = scores.shape();
  return {.scores = scores.as<float>(),
          .columns = shape.rank() == 2 ? static_cast<std::size_t>(shape[1]) : 1,
          .labels = last_labels(labels, static_cast<std::size_t>(shape[0]))};
}

std::int64_t highest(std::span<const float> scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

void expect_single_samples(std::string_view subject, const OutputRows& rows) {
  if (rows.mode == OutputMode::sum)
    throw Error(Errc::invalid_argument,
                std::string(subject) +
                    ": expected the scores of single samples, as output mode all, final or "
                    "every_n returns them, got sum");
  if (rows.copies > 1)
    throw Error(Errc::invalid_argument,
                std::string(subject) +
                    ": expected the scores of each sample once, got those of input groups of " +
                    std::to_string(rows.copies) + " replicas");
}

Tensor last_field(const Batch& batch) {
  return batch.empty() ? Tensor() : batch.back();
}

Tensor labels_of(std::string_view subject, const OutputRows& rows, const Tensor& labels) {
  expect_single_samples(subject, rows);
  if (rows.mode != OutputMode::every_n || !labels || labels.shape().rank() != 1) return labels;
  return every_nth(subject, rows, labels);
}

}  // namespace penstock
