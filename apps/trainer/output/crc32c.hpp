// These functions compute the checksum of the files that TensorBoard reads.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainer {

/// Returns the CRC-32C (Castagnoli, RFC 3720, appendix B.4) of `bytes`.
std::uint32_t crc32c(std::string_view bytes);

/// Returns the CRC-32C of `bytes` in the masked form that TFRecord files have. Without the mask,
/// the CRC-32C of any bytes followed by their own CRC-32C would always be the same number.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace trainer
