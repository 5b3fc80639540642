// These pure functions find the scores and the labels of single samples in what a call of a model
// has returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// ScoredSamples are samples with `columns` scores and a label each.
struct ScoredSamples {
  std::span<const float> scores;
  std::size_t columns = 1;
  std::vector<std::int64_t> labels;

  std::size_t size() const { return labels.size(); }
  /// Returns the scores of sample number `sample`.
  std::span<const float> row(std::size_t sample) const {
    return scores.subspan(sample * columns, columns);
  }
};

/// ScoreShapes say which shapes the scores of N samples may have.
enum class ScoreShapes : std::uint8_t {
  rows,             ///< The shape is [N,classes].
  rows_or_numbers,  ///< The shape is [N,classes] or [N].
};

/// Returns the samples with these scores and labels, which are i64, i32 or u8. If there are fewer
/// scores than labels, the scores belong to the last labels.
/// @throws Error shape_mismatch, whose text begins with `subject`, for tensors of other types or
/// shapes.
ScoredSamples scored_samples(std::string_view subject, const Tensor& scores, const Tensor& labels,
                             ScoreShapes shapes);

/// Returns the number of the highest score, which is the first one if several are equal.
std::int64_t highest(std::span<const float> scores);

/// Checks that a call returns the scores of each sample once. @throws Error invalid_argument, whose
/// text begins with `subject`, if it does not.
void expect_single_samples(std::string_view subject, const OutputRows& rows);

/// Returns the last field of `batch`, or an empty tensor if there is none.
Tensor last_field(const Batch& batch);

/// Returns `labels`, or the part of them whose last rows belong to the rows of the outputs.
/// @throws Error as expect_single_samples(); invalid_argument for rows that no call has.
Tensor labels_of(std::string_view subject, const OutputRows& rows, const Tensor& labels);

}  // namespace penstock
