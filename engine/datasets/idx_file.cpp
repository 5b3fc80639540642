#include "engine/datasets/idx_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "engine/datasets/file_bytes.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{16} << 30;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

[[noreturn]] void refuse(const FileBytes& file, const std::string& text) {
  throw Error(Errc::corrupt_file, file.path() + ": " + text);
}

std::uint32_t read_number(FileBytes& file) {
  std::array<std::uint8_t, 4> bytes{};
  if (file.read(bytes) != bytes.size())
    refuse(file, "truncated: the file ends inside the IDX header");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", number);
  return text.data();
}

void check_magic(FileBytes& file, int rank) {
  constexpr std::uint32_t unsigned_bytes = 0x08;
  const std::uint32_t expected = unsigned_bytes << 8 | static_cast<std::uint32_t>(rank);
  const std::uint32_t magic = read_number(file);
  if (magic != expected)
    refuse(file, "expected IDX data of unsigned bytes in " + std::to_string(rank) +
                     " dimensions (magic number " + hexadecimal(expected) + "), got " +
                     hexadecimal(magic));
}

std::string claim_of(const std::vector<std::int64_t>& dims) {
  std::string text = "the IDX header claims ";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "x" : "") + std::to_string(dims[i]);
  return text + " elements";
}

/// How many elements the dimensions make; refuses more than the file can hold.
std::size_t element_count(const FileBytes& file, const std::vector<std::int64_t>& dims) {
  const std::uint64_t limit = std::min(file.most_bytes(), most_elements);
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    const auto size = static_cast<std::uint64_t>(dim);
    if (size != 0 && count > limit / size)
      refuse(file, "truncated or corrupt: " + claim_of(dims) + ", more than the file can hold");
    count *= size;
  }
  return static_cast<std::size_t>(count);
}

/// Grows with what really arrives.
std::vector<std::uint8_t> read_elements(FileBytes& file, std::size_t count,
                                        const std::string& claim) {
  std::vector<std::uint8_t> elements;
  elements.reserve(count);
  while (elements.size() < count) {
    const std::size_t done = elements.size(), chunk = std::min(count - done, chunk_bytes);
    elements.resize(done + chunk);
    const std::size_t got = file.read({elements.data() + done, chunk});
    if (got < chunk)
      refuse(file, "truncated: " + claim + ", the file has " + std::to_string(done + got));
  }
  return elements;
}

void expect_end(FileBytes& file, const std::string& claim) {
  std::array<std::uint8_t, 1> extra{};
  if (file.read(extra) != 0) refuse(file, "corrupt: " + claim + ", but more bytes follow them");
}

IdxFile read_checked(const std::string& path, int rank) {
  FileBytes file(path);
  check_magic(file, rank);
  IdxFile result{path, {}, {}};
  for (int i = 0; i < rank; ++i) result.dims.push_back(read_number(file));
  const std::string claim = claim_of(result.dims);
  result.elements = read_elements(file, element_count(file, result.dims), claim);
  expect_end(file, claim);
  return result;
}

}  // namespace

IdxFile read_idx_file(const std::string& path, int rank) {
  try {
    return read_checked(path, rank);
  } catch (const std::bad_alloc&) {
    throw Error(Errc::io_error, path + ": not enough memory to read it");
  }
}

}  // namespace penstock
