// These functions read and write a tensor in the format of NumPy's numpy.save() and numpy.load(). A
// reader trusts nothing in a file.
#pragma once

#include <string>

#include "penstock/tensor.hpp"

namespace penstock {

/// Reads the array of the file at `path`, in the format of numpy.save() in version 1, 2 or 3, with
/// elements in C or in Fortran order. Elements of type float32, int64, int32, uint8 and bool are
/// taken as they are. Those of float16 become the same numbers in f32, and those of float64 the
/// nearest numbers in f32. Those of int8, int16 and uint16 become i32, and those of uint32 and
/// uint64 become i64. The call allocates no more than a small multiple of the file's size, whatever
/// the file claims.
/// @throws Error io_error if the file cannot be read; corrupt_file if it breaks the format, or has
/// something behind the array; unsupported for elements of another type, such as those of a machine
/// with another order of bytes, for more than eight dimensions, and for a number of float64 or
/// uint64 that is too large for f32 or i64; out_of_memory. The text names the file.
Tensor load_npy(const std::string& path);

/// Writes `tensor` to a file at `path`, which numpy.load() reads, whole or not at all.
/// @throws Error invalid_argument if `tensor` is an empty handle; io_error; out_of_memory. A file
/// that was at `path` is then unchanged.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace penstock
