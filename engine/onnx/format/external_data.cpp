#include "engine/onnx/format/external_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/files/input_file.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Entries = std::map<std::string, std::string>;

/// Returns the number that `entries` have under `key`, or `fallback` if they have none.
std::uint64_t number(const Entries& entries, const std::string& key, std::uint64_t fallback) {
  const auto found = entries.find(key);
  if (found == entries.end()) return fallback;
  const std::string_view text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    corrupt("expected a number of bytes as the " + key + " in another file, got " +
            quoted_text(text));
  return value;
}

/// Returns the path of the file. The directories on the way to it are no links either, for a link
/// could lead out of `directory`.
std::filesystem::path path_of(const Entries& entries, const std::filesystem::path& directory) {
  const auto found = entries.find("location");
  if (found == entries.end()) corrupt("its elements are in another file, which it does not name");
  const std::filesystem::path location = found->second;
  const auto leads_up = [](const std::filesystem::path& part) { return part == ".."; };
  if (location.empty() || location.is_absolute() || std::ranges::any_of(location, leads_up))
    corrupt("expected its elements in a file of the same directory or of one within it, got " +
            quoted_text(found->second));
  std::filesystem::path path = directory;
  for (const std::filesystem::path& part : location) {
    std::error_code ignored;  // InputFile reports a file that is not there.
    if (path != directory && std::filesystem::is_symlink(path, ignored))
      corrupt("the directory of " + quoted_text(found->second) +
              ", which has its elements, is a "
              "link");
    path /= part;
  }
  return path;
}

}  // namespace

std::vector<std::byte> read_external_data(const Entries& where, std::uint64_t bytes,
                                          const std::filesystem::path& directory) {
  const std::filesystem::path path = path_of(where, directory);
  const std::string name = "file " + printable(path.string());
  InputFile file(path, name, InputFile::Links::refused);
  const std::uint64_t offset = number(where, "offset", 0);
  if (number(where, "length", bytes) != bytes)
    corrupt("expected " + std::to_string(bytes) + " bytes in " + name + ", got " +
            where.at("length"));
  if (offset > file.bytes() || bytes > file.bytes() - offset)
    corrupt(name + " ends before its elements do: expected " + std::to_string(bytes) +
            " bytes from byte " + std::to_string(offset) + " on, got a file of " +
            std::to_string(file.bytes()));
  if (::lseek(file.descriptor(), static_cast<off_t>(offset), SEEK_SET) < 0)
    throw Error(Errc::io_error, name + ": the place of the elements cannot be reached");
  std::vector<std::byte> elements(static_cast<std::size_t>(bytes));
  if (file.read(elements) != elements.size()) corrupt(name + " ends before its elements do");
  return elements;
}

ExternalPlace external_place(const Entries& where, const std::filesystem::path& directory) {
  const auto location = where.find("location"), offset = where.find("offset");
  const std::filesystem::path name = location == where.end() ? "" : location->second;
  return {(directory / name).lexically_normal(), offset == where.end() ? "0" : offset->second};
}

void ExternalCount::add(const Entries& where, std::uint64_t bytes) {
  const auto location = where.find("location");
  if (location == where.end()) return;
  const std::filesystem::path path = external_place(where, directory_).first;
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return;  // A file that is not there is refused when it is read.
  std::uint64_t& counted = bytes_[path];
  if (counted > size || bytes > size - counted)
    corrupt("file " + quoted_text(location->second) + " has " + std::to_string(size) +
            " bytes, fewer than the tensors that have their elements there");
  counted += bytes;
}

}  // namespace penstock
