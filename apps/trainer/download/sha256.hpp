// A Sha256 computes the SHA-256 of bytes, as FIPS 180-4 defines it. No library that Penstock needs
// anyway has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trainer {

class Sha256 {
 public:
  /// Adds `bytes` to those whose digest is computed.
  void add(std::span<const std::byte> bytes);
  /// Returns the digest of all bytes that were added, as 64 hexadecimal digits. Nothing may be
  /// added afterwards.
  std::string digest();

 private:
  void add_block();

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t bytes_ = 0;  ///< So many bytes were added, the last of which are in `block_`.
};

}  // namespace trainer
