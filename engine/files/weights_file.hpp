// These functions read and write weights in the safetensors format: the size of the header as u64
// little-endian, the header in JSON, and the elements raw and little-endian. Reading trusts nothing
// in the file; writing is whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "engine/files/weights_header.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class OutputFile;

struct WeightsFile {
  std::map<std::string, Tensor> tensors = {};
  std::map<std::string, std::string> metadata = {};
};

/// Throws an Error if a file with this header is not what was expected.
using HeaderCheck = std::function<void(const WeightsHeader&)>;

/// Reads the file's header, asks `check`, and only then makes room for the tensors and reads them.
/// @throws Error io_error if the file cannot be read, corrupt_file if it breaks the format,
/// unsupported for other types than F32 and I64, out_of_memory, and what `check` throws; the text
/// names the file, after what it is, and the tensor.
WeightsFile read_weights_file(const std::filesystem::path& path,
                              const std::string& what = "weights file",
                              const HeaderCheck& check = {});

/// Fills its argument with the bytes that come next, and returns how many there were.
using ByteReader = std::function<std::size_t(std::span<std::byte>)>;

/// Reads weights from `bytes` bytes that `read` gives. It allocates no more than a small multiple
/// of `bytes`, whatever the bytes say.
WeightsFile read_weights(const ByteReader& read, std::uint64_t bytes,
                         const HeaderCheck& check = {});

/// Writes tensors of larger elements first, then by name, so that the same weights give the same
/// bytes.
/// @throws Error invalid_argument if a name or the metadata cannot be written; io_error;
/// out_of_memory.
void write_weights(OutputFile& file, const WeightsFile& weights);

/// Writes and commits. @throws Error as OutputFile and write_weights(); the path is then as it was.
void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights);

}  // namespace penstock
