#include "engine/files/weights_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "engine/files/input_file.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

// The safetensors format itself has this limit.
constexpr std::uint64_t header_bytes_limit = 100'000'000;
constexpr std::size_t header_chunk_bytes = std::size_t{1} << 20;
constexpr std::uint64_t alignment = 8;

[[noreturn]] void refuse(Errc code, const std::string& what) {
  throw Error(code, what);
}

void read_bytes(const ByteReader& read, std::span<std::byte> bytes) {
  if (read(bytes) != bytes.size())
    refuse(Errc::io_error, "the file ended, or could not be read, while it was read");
}

/// Returns the end of a text that refuses a file with these first eight bytes because it is of
/// another kind, or nothing if the kind is not known.
std::string other_kind(std::uint64_t first) {
  std::array<char, sizeof first> bytes;
  std::memcpy(bytes.data(), &first, sizeof first);
  const std::string_view text(bytes.data(), bytes.size());
  if (text.starts_with("PK\3\4") || text.starts_with("\x80\2"))
    return "; this looks like a file of torch.save() or numpy.savez(): write the tensors with "
           "safetensors.torch.save_file() or safetensors.numpy.save_file()";
  if (text.starts_with("\x89HDF"))
    return "; this is an HDF5 file: write the tensors with safetensors.numpy.save_file()";
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
  if (std::ranges::all_of(text, is_text))
    return "; this looks like a text file, and a weights file is in the safetensors format";
  return "";
}

/// Returns the header's text. It is read in pieces, and the first NUL byte is refused, because a
/// file with holes may seem to have far more bytes than are on the disk: a hole is read as NUL
/// bytes, and JSON has none.
std::string read_header_text(const ByteReader& read, std::uint64_t file_bytes) {
  std::uint64_t size = 0;
  if (file_bytes < sizeof size)
    refuse(Errc::corrupt_file, "expected at least 8 bytes, got " + std::to_string(file_bytes));
  read_bytes(read, std::as_writable_bytes(std::span(&size, 1)));
  const std::uint64_t limit = std::min(file_bytes - sizeof size, header_bytes_limit);
  if (size > limit)
    refuse(Errc::corrupt_file, "expected a header of at most " + std::to_string(limit) +
                                   " bytes, got " + std::to_string(size) + other_kind(size));
  std::string text;
  while (text.size() < size) {
    const std::size_t begin = text.size();
    text.resize(begin + std::min<std::size_t>(size - begin, header_chunk_bytes));
    read_bytes(read, std::as_writable_bytes(std::span(text).subspan(begin)));
    if (const auto nul = text.find('\0', begin); nul != text.npos)
      refuse(Errc::corrupt_file,
             "header: not valid JSON near byte " + std::to_string(nul + 1) + ": a NUL byte");
  }
  return text;
}

Tensor read_tensor(const ByteReader& read, const WeightsEntry& entry) {
  const std::size_t bytes = entry.end - entry.begin;
  const auto block = allocate_block(bytes);
  read_bytes(read, {block.get(), bytes});
  return Tensor::wrap(entry.dtype, entry.shape, block);
}

/// Returns the header of a file in which the tensors lie without gaps. Its entries are in the order
/// in which the tensors are written.
WeightsHeader layout(const WeightsFile& weights) {
  WeightsHeader header{.metadata = weights.metadata};
  for (const auto& [name, tensor] : weights.tensors) {
    if (name == "__metadata__")
      refuse(Errc::invalid_argument, "no tensor can be named \"__metadata__\"");
    header.entries.push_back({.name = name, .dtype = tensor.dtype(), .shape = tensor.shape()});
  }
  std::ranges::stable_sort(header.entries, std::greater(),
                           [](const WeightsEntry& entry) { return size_of(entry.dtype); });
  std::uint64_t end = 0;
  for (WeightsEntry& entry : header.entries) {
    entry.begin = end;
    entry.end = end += static_cast<std::uint64_t>(entry.shape.elements()) * size_of(entry.dtype);
  }
  return header;
}

}  // namespace

WeightsFile read_weights_file(const std::filesystem::path& path, const std::string& what,
                              const HeaderCheck& check) {
  return or_out_of_memory(what, [&] {
    const std::string name = what + " \"" + printable(path.native()) + '"';
    InputFile file(path, name);
    try {
      return read_weights([&](std::span<std::byte> bytes) { return file.read(bytes); },
                          file.bytes(), check);
    } catch (const Error& error) {
      const std::string text = error.what();
      throw Error(error.code(), text.starts_with(name) ? text : name + ": " + text);
    }
  });
}

WeightsFile read_weights(const ByteReader& read, std::uint64_t bytes, const HeaderCheck& check) {
  WeightsHeader header;
  {
    const std::string text = read_header_text(read, bytes);
    header = parse_weights_header(text, bytes - sizeof bytes - text.size());
  }
  if (check) check(header);
  WeightsFile weights{.metadata = std::move(header.metadata)};
  for (const WeightsEntry& entry : header.entries)
    weights.tensors.emplace(entry.name, read_tensor(read, entry));
  return weights;
}

void write_weights(OutputFile& file, const WeightsFile& weights) {
  or_out_of_memory("writing weights", [&] {
    const WeightsHeader header = layout(weights);
    std::string text = to_json(header);
    text.append((alignment - text.size() % alignment) % alignment, ' ');
    const std::uint64_t size = text.size();
    file.write(std::as_bytes(std::span(&size, 1)));
    file.write(text);
    for (const WeightsEntry& entry : header.entries) {
      const Tensor& tensor = weights.tensors.at(entry.name);
      file.write({tensor.raw(), tensor.bytes()});
    }
  });
}

void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights) {
  OutputFile file(path);
  write_weights(file, weights);
  file.commit();
}

}  // namespace penstock
