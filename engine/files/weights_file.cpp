#include "engine/files/weights_file.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <istream>
#include <span>
#include <system_error>
#include <utility>

#include "engine/files/weights_header.hpp"
#include "engine/values/memory.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::uint64_t header_bytes_limit = 100'000'000;  // the public format's own
constexpr std::uint64_t alignment = 8;

[[noreturn]] void refuse(Errc code, const std::string& what) {
  throw Error(code, what);
}

void read_bytes(std::istream& stream, std::span<std::byte> bytes) {
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(stream.gcount()) != bytes.size())
    refuse(Errc::io_error, "the file ended, or could not be read, while it was read");
}

std::string read_header_text(std::istream& stream, std::uint64_t file_bytes) {
  std::uint64_t size = 0;
  if (file_bytes < sizeof size)
    refuse(Errc::corrupt_file, "expected at least 8 bytes, got " + std::to_string(file_bytes));
  read_bytes(stream, std::as_writable_bytes(std::span(&size, 1)));
  const std::uint64_t limit = std::min(file_bytes - sizeof size, header_bytes_limit);
  if (size > limit)
    refuse(Errc::corrupt_file, "expected a header of at most " + std::to_string(limit) +
                                   " bytes, got " + std::to_string(size));
  std::string text(size, '\0');
  read_bytes(stream, std::as_writable_bytes(std::span(text)));
  return text;
}

Tensor read_tensor(std::istream& stream, const WeightsEntry& entry) {
  const std::size_t bytes = entry.end - entry.begin;
  const auto block = allocate_block(bytes);
  read_bytes(stream, {block.get(), bytes});
  return Tensor::wrap(entry.dtype, entry.shape, block);
}

/// Entries, in the order they are written, that lay the tensors out without gaps.
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

WeightsFile read_weights_file(const std::filesystem::path& path, const std::string& what) {
  try {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(path, error);
    if (error) refuse(Errc::io_error, error.message());
    if (!regular) refuse(Errc::io_error, "it is not a regular file");
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    std::ifstream stream(path, std::ios::binary);
    if (error || !stream) refuse(Errc::io_error, "it cannot be opened");
    return read_weights(stream, bytes);
  } catch (const Error& error) {
    throw Error(error.code(), what + " \"" + path.string() + "\": " + error.what());
  }
}

WeightsFile read_weights(std::istream& stream, std::uint64_t bytes) {
  const std::string text = read_header_text(stream, bytes);
  WeightsHeader header = parse_weights_header(text, bytes - sizeof bytes - text.size());
  WeightsFile weights{.metadata = std::move(header.metadata)};
  for (const WeightsEntry& entry : header.entries)
    weights.tensors.emplace(entry.name, read_tensor(stream, entry));
  return weights;
}

void write_weights(OutputFile& file, const WeightsFile& weights) {
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
}

void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights) {
  OutputFile file(path);
  write_weights(file, weights);
  file.commit();
}

}  // namespace penstock
