#include "engine/files/names_in.hpp"

#include <dirent.h>

#include <memory>
#include <string_view>

namespace penstock {

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::opendir(directory.c_str()), close);
  std::vector<std::string> names;
  if (!stream) return names;
  while (const dirent* entry = ::readdir(stream.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  return names;
}

}  // namespace penstock
