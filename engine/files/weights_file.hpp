// These functions read and write weights in the safetensors format: the size of the header as u64
// little-endian, the header in JSON, and the elements raw and little-endian. A reader trusts
// nothing in the file. A file is written whole or not at all.
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

/// A HeaderCheck is a function that throws an Error if a file with the given header is not what its
/// reader expects.
using HeaderCheck = std::function<void(const WeightsHeader&)>;

/// Reads the file's header, calls `check` with it, and only then allocates the tensors and reads
/// them.
/// @throws Error io_error if the file cannot be read, corrupt_file if it breaks the format,
/// unsupported for types that no DType is, out_of_memory, and what `check` throws. The text
/// begins with `what` and the file's path, and names the tensor.
WeightsFile read_weights_file(const std::filesystem::path& path,
                              const std::string& what = "weights file",
                              const HeaderCheck& check = {});

/// A ByteReader is a function that fills its argument with the next bytes of a file and returns how
/// many bytes it has read. It reads fewer bytes than fit into its argument only if the file has no
/// more.
using ByteReader = std::function<std::size_t(std::span<std::byte>)>;

/// Reads weights from `bytes` bytes that `read` gives. The function allocates no more than a small
/// multiple of `bytes`, whatever the header claims.
WeightsFile read_weights(const ByteReader& read, std::uint64_t bytes,
                         const HeaderCheck& check = {});

/// Writes the weights. Tensors with larger elements come first, and tensors with elements of one
/// size are ordered by name, so that equal weights give equal bytes.
/// @throws Error invalid_argument if a name or the metadata cannot be written; io_error;
/// out_of_memory.
void write_weights(OutputFile& file, const WeightsFile& weights);

/// Writes the weights to a file at `path`. @throws Error as OutputFile and write_weights(); a file
/// that was at `path` is then unchanged.
void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights);

}  // namespace penstock
