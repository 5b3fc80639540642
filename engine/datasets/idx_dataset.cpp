#include <algorithm>

#include "engine/datasets/byte_images.hpp"
#include "engine/datasets/file_bytes.hpp"
#include "engine/datasets/idx_file.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

void check_headers(const IdxFile& images, const IdxFile& labels,
                   const std::optional<Shape>& expected_image) {
  if (images.dims()[0] != labels.dims()[0])
    throw Error(Errc::corrupt_file, images.path() + " has " + std::to_string(images.dims()[0]) +
                                        " images, but " + labels.path() + " has " +
                                        std::to_string(labels.dims()[0]) + " labels");
  if (std::ranges::count(images.dims(), 0) > 0)
    throw Error(Errc::corrupt_file, images.path() + ": expected images, got none");
  const Shape image{1, images.dims()[1], images.dims()[2]};
  if (expected_image && image != *expected_image)
    throw Error(Errc::invalid_data, images.path() + ": expected images of " +
                                        to_string(*expected_image) + ", got " + to_string(image));
}

std::shared_ptr<const Dataset> read_idx_files(const std::string& images, const std::string& labels,
                                              const PixelFormat& format, int classes,
                                              const std::optional<Shape>& expected_image) {
  IdxFile image_file(images, 3), label_file(labels, 1);
  check_headers(image_file, label_file, expected_image);
  std::vector<std::uint8_t> label_bytes = label_file.read_elements();
  check_labels(label_file.path(), label_bytes, classes);
  return byte_images({1, image_file.dims()[1], image_file.dims()[2]}, image_file.read_elements(),
                     std::move(label_bytes), format);
}

std::shared_ptr<const Dataset> read_checked(const std::string& images, const std::string& labels,
                                            const PixelFormat& format, int classes,
                                            const std::optional<Shape>& expected_image) {
  return on_hosts_thread("read_idx", [&] {
    if (classes < 1)
      throw Error(Errc::invalid_argument,
                  "read_idx: expected at least 1 class, got " + std::to_string(classes));
    return read_idx_files(images, labels, format, classes, expected_image);
  });
}

}  // namespace

std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        const Normalization& normalization, int classes,
                                        const std::optional<Shape>& expected_image) {
  return read_checked(images, labels, normalization, classes, expected_image);
}

std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        AsBytes, int classes,
                                        const std::optional<Shape>& expected_image) {
  return read_checked(images, labels, std::nullopt, classes, expected_image);
}

std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split,
                                        const Normalization& normalization, int classes,
                                        const std::optional<Shape>& expected_image) {
  const std::vector<std::string> files = idx_files(directory, split);
  return read_idx(files[0], files[1], normalization, classes, expected_image);
}

std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split, AsBytes,
                                        int classes, const std::optional<Shape>& expected_image) {
  const std::vector<std::string> files = idx_files(directory, split);
  return read_idx(files[0], files[1], as_bytes, classes, expected_image);
}

std::vector<std::string> idx_files(const std::string& directory, Split split) {
  return on_hosts_thread("read_idx", [&]() -> std::vector<std::string> {
    const std::string prefix = split == Split::train ? "train" : "t10k";
    return {expect_file(directory, prefix + "-images-idx3-ubyte", "an IDX file"),
            expect_file(directory, prefix + "-labels-idx1-ubyte", "an IDX file")};
  });
}

}  // namespace penstock
