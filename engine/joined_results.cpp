#include "engine/joined_results.hpp"

#include <span>
#include <utility>

#include "engine/rows.hpp"

namespace penstock {
namespace {

/// Returns the rows that a tensor has in all sections, one section after the other. `tensor_of`
/// returns the tensor of a section's result.
Tensor all_rows(const std::vector<SectionResult>& sections, const auto& tensor_of) {
  std::vector<Tensor> rows;
  for (const SectionResult& section : sections) rows.push_back(tensor_of(section.result));
  return join_rows(rows);
}

double mean_of_losses(const std::vector<SectionResult>& sections) {
  const auto weighted = [](const SectionResult& section) {
    return section.result.mean_loss * static_cast<double>(section.samples);
  };
  double sum = weighted(sections.front());
  std::int64_t samples = sections.front().samples;
  for (const SectionResult& section : std::span(sections).subspan(1)) {
    sum += weighted(section);
    samples += section.samples;
  }
  return sum / static_cast<double>(samples);
}

/// Returns the rows of the first section, with the micro-batches of all sections. Its `shorter`
/// are, for a step, the micro-batches of a short last update and, for a run, those of another size.
OutputRows rows_of_all(const std::vector<SectionResult>& sections, bool training) {
  OutputRows rows = sections.front().result.rows;
  for (const SectionResult& section : std::span(sections).subspan(1)) {
    const MicroBatches& more = section.result.rows.micro_batches;
    if (!training && more.samples == rows.micro_batches.samples)
      rows.micro_batches.count += more.count;
    else
      rows.shorter = more;
  }
  return rows;
}

}  // namespace

StepResult joined(std::vector<SectionResult> sections, const OutputOptions& output, bool training) {
  StepResult& result = sections.back().result;
  if (sections.size() == 1) return std::move(result);
  const OutputMode mode = result.rows.mode;
  result.mean_loss = mean_of_losses(sections);
  if (mode == OutputMode::all) {
    result.rows = rows_of_all(sections, training);
    if (result.loss)
      result.loss = all_rows(sections, [](const StepResult& section) { return section.loss; });
    for (std::size_t i = 0; i < result.outputs.size(); ++i)
      result.outputs[i].tensor =
          all_rows(sections, [&](const StepResult& section) { return section.outputs[i].tensor; });
  }
  for (std::size_t i = 0; i < result.anchors.size(); ++i) {
    const OutputMode of_anchor = output.anchors[i].mode;
    if ((of_anchor == OutputMode::automatic ? mode : of_anchor) == OutputMode::all)
      result.anchors[i].tensor =
          all_rows(sections, [&](const StepResult& section) { return section.anchors[i].tensor; });
  }
  return std::move(result);
}

}  // namespace penstock
