// joined() puts together what the parts of one call have returned. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/options.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// PartResult is what one part of a call has returned.
struct PartResult {
  std::int64_t samples = 0;  ///< Counts the samples on which the part ran.
  StepResult result;         ///< This is what its plan has returned.
};

/// Returns what a call returns that ran in `parts`, of which there is at least one: where `output`
/// asks for all of a tensor, its rows of every part one after the other; else what the last part
/// returned. `training` says whether these are updates.
/// @throws Error shape_mismatch if such rows are of several shapes.
StepResult joined(std::vector<PartResult> parts, const OutputOptions& output, bool training);

}  // namespace penstock
