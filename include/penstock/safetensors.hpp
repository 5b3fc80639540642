// These functions read and write tensors in the safetensors format, which the library safetensors
// reads and writes for PyTorch, NumPy and JAX. A host keeps its own tensors in such files, or reads
// what another program has written. A reader trusts nothing in a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/named_tensor.hpp"

namespace penstock {

class OutputFile;

/// A TensorFile is what a file in the safetensors format holds.
struct TensorFile {
  /// `tensors` has the tensors in the order in which their elements are in the file.
  std::vector<NamedTensor> tensors = {};
  /// `metadata` has texts about the tensors, by names that the file's writer has chosen.
  std::map<std::string, std::string> metadata = {};

  /// Returns the tensor called `name`. @throws Error invalid_argument if there is no such tensor.
  const Tensor& tensor(const std::string& name) const;
};

/// Reads the file at `path`. Elements of type F32, I64, I32, U8 and BOOL are taken as they are.
/// Elements of type F16 and BF16 become the same numbers in f32, and elements of type F64 become
/// the nearest numbers in f32. The call allocates no more than a small multiple of the file's size,
/// whatever the file claims.
/// @throws Error io_error if the file cannot be read; corrupt_file if it breaks the format;
/// unsupported for a tensor of another type, or of type F64 with a finite number that is too large
/// for f32; out_of_memory. The text names the file and the tensor.
TensorFile load_safetensors(const std::string& path);

/// Writes `tensors` and `metadata` to a file at `path`, whole or not at all. Tensors of larger
/// elements come first, so that all elements are aligned; apart from that, the order of `tensors`
/// is kept.
/// @throws Error invalid_argument if a tensor is an empty handle, if two tensors have the same
/// name, or if a name or a text of `metadata` cannot be written because it is not UTF-8;
/// io_error; out_of_memory. A file that was at `path` is then unchanged.
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
/// Writes `tensors` and `metadata` to `file`, which the caller commits. @throws Error as the other
/// function.
void save_safetensors(OutputFile& file, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace penstock
