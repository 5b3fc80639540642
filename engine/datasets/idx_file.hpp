// The IDX format of MNIST: a magic number (two zero bytes, the element type, the number of
// dimensions), the dimensions as big-endian 32-bit numbers, the elements. Unsigned bytes only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct IdxFile {
  std::string path;
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> elements;
};

/// Reads a file, gzipped or plain, that must have `rank` dimensions. Nothing is allocated for what
/// a header merely claims.
/// @throws Error io_error, corrupt_file: one line that opens with the file's name.
IdxFile read_idx_file(const std::string& path, int rank);

}  // namespace penstock
