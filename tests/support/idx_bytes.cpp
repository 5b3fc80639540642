#include "tests/support/idx_bytes.hpp"

#include <zlib.h>

#include <stdexcept>

namespace penstock::testing {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

}  // namespace

std::string idx_header(std::initializer_list<std::uint32_t> dims) {
  std::string bytes = big_endian(0x0800 | static_cast<std::uint32_t>(dims.size()));
  for (const std::uint32_t dim : dims) bytes += big_endian(dim);
  return bytes;
}

std::string idx_bytes(std::initializer_list<std::uint32_t> dims, char value) {
  std::size_t count = 1;
  for (const std::uint32_t dim : dims) count *= dim;
  return idx_header(dims) + std::string(count, value);
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  constexpr int gzip_format = 16;
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string input = bytes, output(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(output.data());
  stream.avail_out = static_cast<uInt>(output.size());
  deflate(&stream, Z_FINISH);
  output.resize(stream.total_out);
  deflateEnd(&stream);
  return output;
}

}  // namespace penstock::testing
