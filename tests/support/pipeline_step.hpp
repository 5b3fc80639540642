// run_step() begins and finishes a step of a pipeline, for tests that do nothing in between.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"

namespace penstock::testing {

/// Returns the outcome of the step. @throws Error as begin_step() and finish_step() do.
inline actors::StepOutcome run_step(actors::PipelineRuntime& runtime, std::vector<Tensor> inputs,
                                    std::int64_t micro_batches) {
  runtime.begin_step(std::move(inputs), micro_batches);
  return runtime.finish_step();
}

}  // namespace penstock::testing
