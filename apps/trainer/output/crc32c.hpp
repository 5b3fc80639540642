// This is the checksum of the files that TensorBoard reads.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainer {

/// Returns the CRC-32C (Castagnoli, RFC 3720, appendix B.4) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

/// Returns the checksum of `bytes` as TFRecord has it, so that bytes which hold their own checksums
/// do not have a trivial one.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace trainer
