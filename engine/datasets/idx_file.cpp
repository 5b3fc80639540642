#include "engine/datasets/idx_file.hpp"

#include <algorithm>
#include <array>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{16} << 30;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
// No file of MNIST has more bytes than this.
constexpr std::size_t first_reserved_bytes = std::size_t{64} << 20;

std::uint32_t read_number(FileBytes& file) {
  std::array<std::uint8_t, 4> bytes{};
  if (file.read(bytes) != bytes.size())
    file.refuse("truncated: the file ends inside the IDX header");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void check_magic(FileBytes& file, int rank) {
  constexpr std::uint32_t unsigned_bytes = 0x08;
  const std::uint32_t expected = unsigned_bytes << 8 | static_cast<std::uint32_t>(rank);
  const std::uint32_t magic = read_number(file);
  if (magic != expected)
    file.refuse("expected IDX data of unsigned bytes in " + std::to_string(rank) +
                " dimensions (magic number 0x" + hexadecimal(expected, 8) + "), got 0x" +
                hexadecimal(magic, 8));
}

std::string claim_of(const std::vector<std::int64_t>& dims) {
  std::string text = "the IDX header claims ";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "x" : "") + std::to_string(dims[i]);
  return text + " elements";
}

/// Returns the number of elements that `dims` have. Refuses a number that the file cannot hold.
std::size_t element_count(const FileBytes& file, const std::vector<std::int64_t>& dims) {
  const std::uint64_t limit = std::min(file.most_bytes(), most_elements);
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    const auto size = static_cast<std::uint64_t>(dim);
    if (size != 0 && count > limit / size)
      file.refuse("truncated or corrupt: " + claim_of(dims) + ", more than the file can hold");
    count *= size;
  }
  return static_cast<std::size_t>(count);
}

[[noreturn]] void refuse_size(const FileBytes& file, const std::string& claim, std::uint64_t least,
                              bool more) {
  if (more) file.refuse("corrupt: " + claim + ", but more bytes follow them");
  file.refuse("truncated: " + claim + ", the file has " + std::to_string(least));
}

}  // namespace

IdxFile::IdxFile(const std::string& path, int rank) : file_(path) {
  check_magic(file_, rank);
  for (int i = 0; i < rank; ++i) dims_.push_back(read_number(file_));
  elements_ = element_count(file_, dims_);
  const std::uint64_t header_bytes = 4 + 4 * dims_.size();
  if (const auto bytes = file_.exact_bytes(); bytes && *bytes != header_bytes + elements_)
    refuse_size(file_, claim_of(dims_), *bytes - header_bytes, *bytes > header_bytes + elements_);
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
    if (got < chunk) refuse_size(file_, claim, done + got, false);
  }
  std::array<std::uint8_t, 1> extra{};
  if (file_.read(extra) != 0) refuse_size(file_, claim, elements_, true);
  return elements;
}

}  // namespace penstock
