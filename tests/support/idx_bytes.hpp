// These functions make the bytes of IDX files for the tests of their readers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace penstock::testing {

/// Returns an IDX file of unsigned bytes with the dimensions `dims`. Every byte of its data is
/// `value`.
std::string idx_bytes(std::initializer_list<std::uint32_t> dims, char value = 0);
/// Returns the header of an IDX file of unsigned bytes with the dimensions `dims`.
std::string idx_header(std::initializer_list<std::uint32_t> dims);
/// Returns `bytes` compressed as by the program gzip.
std::string gzipped(const std::string& bytes);

}  // namespace penstock::testing
