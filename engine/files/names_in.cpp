#include "engine/files/names_in.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

/// Returns the names in a directory, or nothing if it cannot be read.
std::optional<std::vector<std::string>> read_names(const std::filesystem::path& directory) {
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::opendir(directory.c_str()), close);
  if (!stream) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  return names;
}

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  return read_names(directory).value_or(std::vector<std::string>());
}

std::vector<std::string> expect_names_in(const std::filesystem::path& directory) {
  if (std::optional<std::vector<std::string>> names = read_names(directory))
    return std::move(*names);
  throw Error(Errc::io_error, printable(directory.string()) + ": the directory cannot be read: " +
                                  std::generic_category().message(errno));
}

}  // namespace penstock
