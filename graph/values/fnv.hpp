// These functions compute FNV-1a with 64 bits, a hash that is the same in every build and on every
// machine.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// `fnv_of_nothing` is the hash of an empty sequence of bytes.
inline constexpr std::uint64_t fnv_of_nothing = 0xcbf29ce484222325u;

/// Returns the hash of a sequence of bytes. `before` is the hash of all bytes in front of the last
/// ones, and `bytes`, a range of char, has these last ones.
template <class Bytes>
constexpr std::uint64_t fnv_on(std::uint64_t before, const Bytes& bytes) noexcept {
  for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}

}  // namespace penstock::graph
