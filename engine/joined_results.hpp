// joined() puts together what the sections of one call have returned. It is a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/options.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// A SectionResult is what one section of a call has returned.
struct SectionResult {
  std::int64_t samples = 0;  ///< `samples` is the number of samples on which the section ran.
  StepResult result;         ///< `result` is what the section's plan has returned.
};

/// Returns the result of a call that ran in `sections`, of which there is at least one. Its
/// `mean_loss` is the mean over the samples of all sections. If `output` asks for all of a tensor,
/// the result has the tensor's rows of every section one after the other; otherwise it has the
/// tensor that the last section returned. `training` says whether the sections made updates.
/// With one section, the function allocates no memory.
/// @throws Error shape_mismatch if rows that are put together have different shapes.
StepResult joined(std::vector<SectionResult> sections, const OutputOptions& output, bool training);

}  // namespace penstock
