#include "engine/datasets/idx_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{16} << 30;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t first_reserved_bytes = std::size_t{64} << 20;  // more than MNIST has

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
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const std::string text(digits.data(), end);
  return "0x" + std::string(digits.size() - text.size(), '0') + text;
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

void expect_end(FileBytes& file, const std::string& claim) {
  std::array<std::uint8_t, 1> extra{};
  if (file.read(extra) != 0) refuse(file, "corrupt: " + claim + ", but more bytes follow them");
}

}  // namespace

IdxFile::IdxFile(const std::string& path, int rank) : file_(path) {
  check_magic(file_, rank);
  for (int i = 0; i < rank; ++i) dims_.push_back(read_number(file_));
  elements_ = element_count(file_, dims_);
}

std::vector<std::uint8_t> IdxFile::read_elements() {
  const std::string claim = claim_of(dims_);
  std::vector<std::uint8_t> elements;
  while (elements.size() < elements_) {
    const std::size_t done = elements.size(), chunk = std::min(elements_ - done, chunk_bytes);
    if (done == elements.capacity())
      elements.reserve(std::min(elements_, std::max(first_reserved_bytes, 2 * done)));
    elements.resize(done + chunk);
    const std::size_t got = file_.read({elements.data() + done, chunk});
    if (got < chunk)
      refuse(file_, "truncated: " + claim + ", the file has " + std::to_string(done + got));
  }
  expect_end(file_, claim);
  return elements;
}

}  // namespace penstock
