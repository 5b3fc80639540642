#include "engine/datasets/byte_images.hpp"
#include "engine/datasets/file_bytes.hpp"
#include "engine/datasets/idx_file.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

void check_counts(const IdxFile& images, const IdxFile& labels) {
  if (images.dims[0] != labels.dims[0])
    throw Error(Errc::corrupt_file, images.path + " has " + std::to_string(images.dims[0]) +
                                        " images, but " + labels.path + " has " +
                                        std::to_string(labels.dims[0]) + " labels");
  if (images.elements.empty())
    throw Error(Errc::corrupt_file, images.path + ": expected images, got none");
}

}  // namespace

std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        const Normalization& normalization, int classes) {
  if (classes < 1)
    throw Error(Errc::invalid_argument,
                "read_idx: expected at least 1 class, got " + std::to_string(classes));
  IdxFile image_file = read_idx_file(images, 3), label_file = read_idx_file(labels, 1);
  check_counts(image_file, label_file);
  check_labels(labels, label_file.elements, classes);
  return byte_images({1, image_file.dims[1], image_file.dims[2]}, std::move(image_file.elements),
                     std::move(label_file.elements), normalization);
}

std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split,
                                        const Normalization& normalization, int classes) {
  const std::vector<std::string> files = idx_files(directory, split);
  return read_idx(files[0], files[1], normalization, classes);
}

std::vector<std::string> idx_files(const std::string& directory, Split split) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  return {expect_file(directory, prefix + "-images-idx3-ubyte", "an IDX file"),
          expect_file(directory, prefix + "-labels-idx1-ubyte", "an IDX file")};
}

}  // namespace penstock
