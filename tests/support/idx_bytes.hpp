// IDX files as bytes, whole or damaged, for the tests of what reads them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace penstock::testing {

/// A file of unsigned bytes, all of them `value`, as many as its header says.
std::string idx_bytes(std::initializer_list<std::uint32_t> dims, char value = 0);
/// Returns the header alone.
std::string idx_header(std::initializer_list<std::uint32_t> dims);
/// Returns what `gzip` makes of the bytes.
std::string gzipped(const std::string& bytes);

}  // namespace penstock::testing
