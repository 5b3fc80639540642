// reader_of() reads from a string what a file of weights has.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "engine/files/weights_file.hpp"

namespace penstock::testing {

/// Returns a reader of `bytes`, which adds the number of bytes that it has given to `taken`. Both
/// arguments must outlive the reader.
inline ByteReader reader_of(const std::string& bytes, std::size_t& taken) {
  return [&](std::span<std::byte> destination) {
    const std::size_t count = std::min(destination.size(), bytes.size() - taken);
    std::memcpy(destination.data(), bytes.data() + taken, count);
    taken += count;
    return count;
  };
}

/// Returns what the file `bytes` has. @throws Error as read_weights().
inline WeightsFile weights_in(const std::string& bytes) {
  std::size_t taken = 0;
  return read_weights(reader_of(bytes, taken), bytes.size());
}

}  // namespace penstock::testing
