#include "engine/datasets/image_paths.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "engine/files/names_in.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

// A link to a folder further up would lead down for ever.
constexpr int deepest_folder = 32;

bool names_an_image(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::array<std::string_view, 3> endings{".png", ".jpg", ".jpeg"};
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

std::string path_in(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + '/' + name;
}

std::filesystem::file_type type_at(const std::string& path) {
  std::error_code error;
  return std::filesystem::status(path, error).type();
}

std::vector<std::string> sorted_names(const std::string& directory) {
  std::vector<std::string> names = expect_names_in(directory);
  std::ranges::sort(names);
  return names;
}

/// Appends `directory` and all folders below it to `folders`.
void append_folders(const std::string& directory, int depth, std::vector<std::string>& folders) {
  if (depth > deepest_folder)
    throw Error(Errc::invalid_data, printable(directory) + ": expected at most " +
                                        std::to_string(deepest_folder) +
                                        " folders inside of each other, got more");
  folders.push_back(directory);
  for (const std::string& name : expect_names_in(directory)) {
    const std::string path = path_in(directory, name);
    if (type_at(path) == std::filesystem::file_type::directory)
      append_folders(path, depth + 1, folders);
  }
}

void append_images(const std::string& directory, std::int64_t label, ImagePaths& paths) {
  std::vector<std::string> folders;
  append_folders(directory, 0, folders);
  std::ranges::sort(folders);
  const std::size_t before = paths.files.size();
  for (const std::string& folder : folders)
    for (const std::string& name : sorted_names(folder)) {
      if (!names_an_image(name)) continue;
      std::string path = path_in(folder, name);
      if (type_at(path) == std::filesystem::file_type::directory) continue;
      paths.files.push_back(std::move(path));
      paths.labels.push_back(label);
    }
  if (paths.files.size() == before)
    throw Error(Errc::invalid_data,
                printable(directory) +
                    ": expected images, whose names end with .png, .jpg or .jpeg, got none");
}

}  // namespace

ImagePaths image_paths(const std::string& directory) {
  if (type_at(directory) != std::filesystem::file_type::directory)
    throw Error(Errc::io_error, printable(directory) + ": expected a directory, there is none");
  ImagePaths paths;
  for (const std::string& name : sorted_names(directory)) {
    const std::string path = path_in(directory, name);
    if (type_at(path) != std::filesystem::file_type::directory) continue;
    append_images(path, static_cast<std::int64_t>(paths.classes.size()), paths);
    paths.classes.push_back(name);
  }
  if (paths.classes.empty())
    throw Error(Errc::invalid_data,
                printable(directory) + ": expected a folder of images for each class, got none");
  return paths;
}

}  // namespace penstock
