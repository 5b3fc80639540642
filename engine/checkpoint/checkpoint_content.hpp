// These functions convert a Checkpoint to what a file in the safetensors format holds, and back. A
// checksum covers all of it. The functions are pure. A file may be damaged or hostile.
#pragma once

#include <string>

#include "engine/files/weights_file.hpp"
#include "penstock/checkpoint.hpp"

namespace penstock {

/// Returns the tensors and texts of a file with `checkpoint` in it, and their checksum.
WeightsFile content_of(const Checkpoint& checkpoint);

/// Returns the checkpoint that a file with this content holds. @throws Error corrupt_file if the
/// content is damaged or is no checkpoint; unsupported for another version of the format. The text
/// begins with `subject`.
Checkpoint checkpoint_of(WeightsFile content, const std::string& subject);

}  // namespace penstock
