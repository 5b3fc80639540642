// These functions convert a Checkpoint to what a file in the safetensors format holds, and back. A
// checksum covers all of it. The functions are pure. A file may be damaged or hostile.
#pragma once

#include <string>

#include "engine/files/weights_file.hpp"
#include "penstock/checkpoint.hpp"

namespace penstock {

/// Returns the tensors and texts of a file with `checkpoint` in it, and their checksum.
WeightsFile content_of(const Checkpoint& checkpoint);

/// `heading_key` is the name of the text that has the numbers of a checkpoint, and `checksum_key`
/// is that of the checksum.
inline constexpr const char* heading_key = "checkpoint";
inline constexpr const char* checksum_key = "checksum";
/// Returns the CRC-32, in hexadecimal digits, of all tensors and of all texts but the checksum.
std::string checksum_of(const WeightsFile& content);

/// Returns the checkpoint that a file with this content holds. @throws Error corrupt_file if the
/// content is damaged or is no checkpoint; unsupported for another version of the format. The text
/// begins with `subject`.
Checkpoint checkpoint_of(WeightsFile content, const std::string& subject);

}  // namespace penstock
