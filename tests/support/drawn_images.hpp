// DrawnImages are the files of tests/data/images/small.safetensors, which
// tests/tools/pillow_images.py has drawn, and what Pillow and torchvision make of them.
#pragma once

#include <filesystem>
#include <string>

#include "penstock/safetensors.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {

class DrawnImages {
 public:
  DrawnImages() : file_(load_safetensors(data_path("images/small.safetensors").string())) {}

  /// Returns what the file has under `name`.
  const Tensor& tensor(const std::string& name) const { return file_.tensor(name); }
  /// Returns the bytes of the image file `name`.
  std::string bytes(const std::string& name) const {
    const auto bytes = tensor(name).as<std::uint8_t>();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Writes the image file `name` to `path`, in folders that are made if need be.
  void write(const std::string& name, const std::filesystem::path& path) const {
    std::filesystem::create_directories(path.parent_path());
    write_file(path, bytes(name));
  }
  const std::vector<NamedTensor>& all() const { return file_.tensors; }

 private:
  TensorFile file_;
};

}  // namespace penstock::testing
