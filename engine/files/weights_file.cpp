#include "engine/files/weights_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/files/input_file.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/number_range.hpp"
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

/// Fills `numbers` with the next elements of a file, which are of type `type`. They are read in
/// pieces, so that not all of them are in memory a second time.
void read_converted(const ByteReader& read, const std::string& name, ElementType type,
                    std::span<float> numbers) {
  constexpr std::size_t at_once = std::size_t{1} << 16;
  std::vector<std::byte> elements(std::min(numbers.size(), at_once) * size_of(type));
  while (!numbers.empty()) {
    const std::size_t count = std::min(numbers.size(), at_once);
    const std::span<std::byte> piece = std::span(elements).first(count * size_of(type));
    read_bytes(read, piece);
    if (const auto refused = convert(type, piece, numbers.first(count)))
      refuse(Errc::unsupported, "tensor " + quoted_name(name) +
                                    ": expected numbers that f32 can hold, got " +
                                    number_text(*refused));
    numbers = numbers.subspan(count);
  }
}

/// Checks that each byte of a tensor of truth values is 0 or 1.
void check_truth_values(const std::string& name, std::span<const std::byte> bytes) {
  if (const auto text = untruth_text(bytes))
    refuse(Errc::corrupt_file, "tensor " + quoted_name(name) + ": " + *text);
}

Tensor read_tensor(const ByteReader& read, const WeightsEntry& entry) {
  const auto elements = static_cast<std::size_t>(entry.shape.elements());
  const auto block = allocate_block(elements * size_of(entry.dtype()));
  if (entry.type == element_type_of(entry.dtype()))
    read_bytes(read, {block.get(), elements * size_of(entry.type)});
  else
    read_converted(read, entry.name, entry.type, {reinterpret_cast<float*>(block.get()), elements});
  if (entry.type == ElementType::boolean) check_truth_values(entry.name, {block.get(), elements});
  return Tensor::wrap(entry.dtype(), entry.shape, block);
}

/// Returns the entry of a tensor that is to be written. @throws Error invalid_argument if the
/// tensor cannot be written.
WeightsEntry entry_of(const NamedTensor& named) {
  const auto& [name, tensor] = named;
  if (name == metadata_key)
    refuse(Errc::invalid_argument, "no tensor can be named " + quoted_name(metadata_key));
  if (!tensor)
    refuse(Errc::invalid_argument,
           "tensor " + quoted_name(name) + ": expected elements, got an empty tensor");
  return {.name = name, .type = element_type_of(tensor.dtype()), .shape = tensor.shape()};
}

/// Returns the header of a file in which `tensors` lie one behind the other without gaps.
WeightsHeader layout(const std::vector<NamedTensor>& tensors,
                     const std::map<std::string, std::string>& metadata) {
  WeightsHeader header{.metadata = metadata};
  std::set<std::string_view> names;
  std::uint64_t end = 0;
  for (const NamedTensor& named : tensors) {
    WeightsEntry entry = entry_of(named);
    if (!names.insert(named.name).second)
      refuse(Errc::invalid_argument, "tensor " + quoted_name(named.name) + " is there twice");
    entry.begin = end;
    entry.end = end += named.tensor.bytes();
    header.entries.push_back(std::move(entry));
  }
  return header;
}

/// Returns the size of an element of the tensor, or 0 for an empty tensor.
std::size_t element_bytes(const NamedTensor& named) {
  return named.tensor ? size_of(named.tensor.dtype()) : 0;
}

WeightsFile by_name(TensorFile file) {
  WeightsFile weights{.metadata = std::move(file.metadata)};
  for (NamedTensor& named : file.tensors)
    weights.tensors.emplace(std::move(named.name), std::move(named.tensor));
  return weights;
}

}  // namespace

TensorFile read_tensor_file(const std::filesystem::path& path, const std::string& what,
                            const HeaderCheck& check) {
  return or_out_of_memory(what, [&] {
    const std::string name = what + " \"" + printable(path.native()) + '"';
    InputFile file(path, name);
    try {
      return read_tensors([&](std::span<std::byte> bytes) { return file.read(bytes); },
                          file.bytes(), check);
    } catch (const Error& error) {
      const std::string text = error.what();
      throw Error(error.code(), text.starts_with(name) ? text : name + ": " + text);
    }
  });
}

WeightsFile read_weights_file(const std::filesystem::path& path, const std::string& what,
                              const HeaderCheck& check) {
  return or_out_of_memory(what, [&] { return by_name(read_tensor_file(path, what, check)); });
}

TensorFile read_tensors(const ByteReader& read, std::uint64_t bytes, const HeaderCheck& check) {
  WeightsHeader header;
  {
    const std::string text = read_header_text(read, bytes);
    header = parse_weights_header(text, bytes - sizeof bytes - text.size());
  }
  if (check) check(header);
  TensorFile file{.metadata = std::move(header.metadata)};
  for (const WeightsEntry& entry : header.entries)
    file.tensors.push_back({entry.name, read_tensor(read, entry)});
  return file;
}

WeightsFile read_weights(const ByteReader& read, std::uint64_t bytes, const HeaderCheck& check) {
  return by_name(read_tensors(read, bytes, check));
}

void write_tensors(OutputFile& file, std::vector<NamedTensor> tensors,
                   const std::map<std::string, std::string>& metadata) {
  or_out_of_memory("writing tensors", [&] {
    std::ranges::stable_sort(tensors, std::greater(), element_bytes);
    std::string text = to_json(layout(tensors, metadata));
    text.append((alignment - text.size() % alignment) % alignment, ' ');
    const std::uint64_t size = text.size();
    if (size > header_bytes_limit)
      refuse(Errc::invalid_argument,
             "writing tensors: expected names and texts that take at most " +
                 std::to_string(header_bytes_limit) +
                 " bytes, which is the most that a safetensors file may have of them, got " +
                 std::to_string(size) + " bytes; a tensor can hold a longer text");
    file.write(std::as_bytes(std::span(&size, 1)));
    file.write(text);
    for (const auto& [name, tensor] : tensors) file.write({tensor.raw(), tensor.bytes()});
  });
}

void write_weights(OutputFile& file, const WeightsFile& weights) {
  or_out_of_memory("writing weights", [&] {
    std::vector<NamedTensor> tensors;
    for (const auto& [name, tensor] : weights.tensors) tensors.push_back({name, tensor});
    write_tensors(file, std::move(tensors), weights.metadata);
  });
}

void write_weights_file(const std::filesystem::path& path, const WeightsFile& weights) {
  OutputFile file(path);
  write_weights(file, weights);
  file.commit();
}

}  // namespace penstock
