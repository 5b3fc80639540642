// read_external_data() reads the elements of a tensor that an ONNX file keeps in another file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace penstock {

/// Returns `bytes` bytes from the place that `where` names by its keys "location", "offset" and
/// "length", in a file in `directory` or in a directory inside it.
/// @throws Error corrupt_file if `where` names no such file, or another number of bytes; io_error
/// if the file cannot be read, or is a link.
std::vector<std::byte> read_external_data(const std::map<std::string, std::string>& where,
                                          std::uint64_t bytes,
                                          const std::filesystem::path& directory);

}  // namespace penstock
