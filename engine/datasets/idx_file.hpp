// IdxFile reads a file in the IDX format of MNIST, which has a magic number (two zero bytes, the
// type of the elements, the number of dimensions), the dimensions as big-endian 32-bit numbers, and
// the elements. Only elements that are unsigned bytes are read. One thread reads from front to
// back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/datasets/file_bytes.hpp"

namespace penstock {

class IdxFile {
 public:
  /// Reads the header of the file at `path`, which is gzipped or plain and must have `rank`
  /// dimensions. A plain file has to be exactly as long as its header says; read_elements() checks
  /// the length of a gzipped file.
  /// @throws Error io_error or corrupt_file, whose text is one line that opens with the file's
  /// name; std::bad_alloc.
  IdxFile(const std::string& path, int rank);

  /// Returns the file's name as messages show it.
  const std::string& path() const noexcept { return file_.path(); }
  const std::vector<std::int64_t>& dims() const noexcept { return dims_; }

  /// Returns the elements, which follow the header. The function may be called once. Beyond 64 MiB,
  /// it allocates at most twice the memory of the elements that it has read already, whatever the
  /// header claims.
  /// @throws Error as the constructor does.
  std::vector<std::uint8_t> read_elements();

 private:
  FileBytes file_;
  std::vector<std::int64_t> dims_;
  std::size_t elements_ = 0;
};

}  // namespace penstock
