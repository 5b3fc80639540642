// output_sizes() says, before a call, how many bytes of each tensor the call will return. It is a
// pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Returns the sizes for a call of `micro_batches` micro-batches per replica: of the loss, if there
/// is one, of the outputs in the model's order, and of the anchors under their names.
std::vector<OutputPlanReport> output_sizes(const actors::PipelineSetup& setup,
                                           const std::vector<std::string>& anchors,
                                           std::int64_t micro_batches);

}  // namespace penstock
