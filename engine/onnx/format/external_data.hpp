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

/// An ExternalPlace is a file, and the number of a byte in it as a text.
using ExternalPlace = std::pair<std::filesystem::path, std::string>;

/// Returns the place that `where` names for a model in `directory`, whether or not it is there.
/// Different spellings of the name of a file give the same place.
ExternalPlace external_place(const std::map<std::string, std::string>& where,
                             const std::filesystem::path& directory);

/// An ExternalCount counts the bytes that tensors have in other files. These must be no more than
/// the files have, for tensors could share elements and take more memory than all files together.
/// One thread uses it.
class ExternalCount {
 public:
  explicit ExternalCount(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Counts elements that take `bytes` bytes at `where`. Whoever shares the elements of several
  /// tensors counts them once.
  /// @throws Error corrupt_file if the file has fewer bytes than the tensors so far.
  void add(const std::map<std::string, std::string>& where, std::uint64_t bytes);

 private:
  std::filesystem::path directory_;
  std::map<std::filesystem::path, std::uint64_t> bytes_;
};

}  // namespace penstock
