#include "engine/joined_results.hpp"

#include <span>
#include <utility>

#include "engine/rows.hpp"

namespace penstock {
namespace {

/// Returns the rows of all parts of the tensor that `tensor_of` finds in each.
Tensor all_rows(const std::vector<PartResult>& parts, const auto& tensor_of) {
  std::vector<Tensor> rows;
  for (const PartResult& part : parts) rows.push_back(tensor_of(part.result));
  return join_rows(rows);
}

double mean_of_losses(const std::vector<PartResult>& parts) {
  const auto weighted = [](const PartResult& part) {
    return part.result.mean_loss * static_cast<double>(part.samples);
  };
  double sum = weighted(parts.front());
  std::int64_t samples = parts.front().samples;
  for (const PartResult& part : std::span(parts).subspan(1)) {
    sum += weighted(part);
    samples += part.samples;
  }
  return sum / static_cast<double>(samples);
}

/// Counts the micro-batches of all parts. Those of a short last update are counted apart; of a run,
/// those that are of another size.
OutputRows rows_of_all(const std::vector<PartResult>& parts, bool training) {
  OutputRows rows = parts.front().result.rows;
  for (const PartResult& part : std::span(parts).subspan(1)) {
    const MicroBatches& more = part.result.rows.micro_batches;
    if (!training && more.samples == rows.micro_batches.samples)
      rows.micro_batches.count += more.count;
    else
      rows.shorter = more;
  }
  return rows;
}

}  // namespace

StepResult joined(std::vector<PartResult> parts, const OutputOptions& output, bool training) {
  StepResult& result = parts.back().result;
  if (parts.size() == 1) return std::move(result);
  const OutputMode mode = result.rows.mode;
  result.mean_loss = mean_of_losses(parts);
  if (mode == OutputMode::all) {
    result.rows = rows_of_all(parts, training);
    if (result.loss)
      result.loss = all_rows(parts, [](const StepResult& part) { return part.loss; });
    for (std::size_t i = 0; i < result.outputs.size(); ++i)
      result.outputs[i].tensor =
          all_rows(parts, [&](const StepResult& part) { return part.outputs[i].tensor; });
  }
  for (std::size_t i = 0; i < result.anchors.size(); ++i) {
    const OutputMode of_anchor = output.anchors[i].mode;
    if ((of_anchor == OutputMode::automatic ? mode : of_anchor) == OutputMode::all)
      result.anchors[i].tensor =
          all_rows(parts, [&](const StepResult& part) { return part.anchors[i].tensor; });
  }
  return std::move(result);
}

}  // namespace penstock
