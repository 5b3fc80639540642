// IdxFile: a file in the IDX format of MNIST: a magic number (two zero bytes, the element type, the
// number of dimensions), the dimensions as big-endian 32-bit numbers, the elements. Unsigned bytes
// only. Read from front to back, by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/datasets/file_bytes.hpp"

namespace penstock {

class IdxFile {
 public:
  /// Reads the header of a file, gzipped or plain, that must have `rank` dimensions. A plain file
  /// has to be exactly as long as its header says; of a gzipped one only reading tells.
  /// @throws Error io_error, corrupt_file: one line that opens with the file's name;
  /// std::bad_alloc.
  IdxFile(const std::string& path, int rank);

  /// The file's name, as messages have it.
  const std::string& path() const noexcept { return file_.path(); }
  const std::vector<std::int64_t>& dims() const noexcept { return dims_; }

  /// Reads what is behind the header, once. Nothing is allocated for what that merely claims.
  /// @throws as the constructor does.
  std::vector<std::uint8_t> read_elements();

 private:
  FileBytes file_;
  std::vector<std::int64_t> dims_;
  std::size_t elements_ = 0;
};

}  // namespace penstock
