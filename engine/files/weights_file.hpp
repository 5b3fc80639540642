// Weights in the safetensors format: u64 little-endian size of the header, JSON header, raw
// little-endian elements. Reading trusts nothing in the file; writing is whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>

#include "penstock/tensor.hpp"

namespace penstock {

class OutputFile;

struct WeightsFile {
  std::map<std::string, Tensor> tensors = {};
  std::map<std::string, std::string> metadata = {};
};

/// @throws Error io_error if the file cannot be read, corrupt_file if it breaks the format,
/// unsupported for other types than F32 and I64; the text names the file, after what it is, and the
/// tensor.
WeightsFile read_weights_file(const std::filesystem::path& path,
                              const std::string& what = "weights file");

/// The same from a stream of `bytes` bytes. Allocates no more than a small multiple of `bytes`,
/// whatever they say.
WeightsFile read_weights(std::istream& stream, std::uint64_t bytes);

/// Tensors of larger elements first, then by name: the same weights give the same bytes.
/// @throws Error invalid_argument if a name or the metadata cannot be written, io_error.
void write_weights(OutputFile& file, const WeightsFile& weights);

/// Writes and commits. @throws Error io_error, invalid_argument; the path is then as it was.
void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights);

}  // namespace penstock
