// read_external_data() reads the elements of a tensor that an ONNX file keeps in another file. An
// ExternalCount bounds what all tensors take that are read so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace penstock {

/// Returns `bytes` bytes from the place that `where` names by its keys "location", "offset" and
/// "length", in a file in `directory` or in a directory inside it.
/// @throws Error corrupt_file if `where` names no such file, or another number of bytes; io_error
/// if the file cannot be read, or is a link.
std::vector<std::byte> read_external_data(const std::map<std::string, std::string>& where,
                                          std::uint64_t bytes,
                                          const std::filesystem::path& directory);

/// An ExternalCount counts the bytes that tensors have in other files. These must be no more than
/// the files have, for tensors could share elements and take more memory than all files together.
/// One thread uses it.
class ExternalCount {
 public:
  explicit ExternalCount(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Counts a tensor that has `bytes` bytes at `where`.
  /// @throws Error corrupt_file if the file has fewer bytes than the tensors so far.
  void add(const std::map<std::string, std::string>& where, std::uint64_t bytes);

 private:
  std::filesystem::path directory_;
  std::map<std::filesystem::path, std::uint64_t> bytes_;
};

}  // namespace penstock
