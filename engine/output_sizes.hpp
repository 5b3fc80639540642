// Output sizes say how many bytes a call returns, tensor by tensor, as known before it. They are
// pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// For a call of `micro_batches` per replica: the loss, if there is one, the outputs in the model's
/// order, the anchors under the names that they were given.
std::vector<OutputPlanReport> output_sizes(const actors::PipelineSetup& setup,
                                           const std::vector<std::string>& anchors,
                                           std::int64_t micro_batches);

}  // namespace penstock
