#include <cstring>
#include <filesystem>

#include "engine/datasets/idx_file.hpp"
#include "engine/datasets/normalizer.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class IdxDataset : public Dataset {
 public:
  IdxDataset(IdxFile images, IdxFile labels, const Normalization& normalization)
      : normalizer_(normalization),
        fields_(image_fields(images.dims[1], images.dims[2])),
        pixels_per_image_(static_cast<std::size_t>(images.dims[1] * images.dims[2])),
        pixels_(std::move(images.elements)),
        labels_(std::move(labels.elements)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(std::int64_t index, std::span<std::byte* const> destinations) const override {
    const auto i = static_cast<std::size_t>(index);
    normalizer_.apply({pixels_.data() + i * pixels_per_image_, pixels_per_image_},
                      reinterpret_cast<float*>(destinations[0]));
    const std::int64_t label = labels_[i];
    std::memcpy(destinations[1], &label, sizeof label);
  }

 private:
  Normalizer normalizer_;
  std::vector<Field> fields_;
  std::size_t pixels_per_image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
};

void check_counts(const IdxFile& images, const IdxFile& labels) {
  if (images.dims[0] != labels.dims[0])
    throw Error(Errc::corrupt_file, images.path + " has " + std::to_string(images.dims[0]) +
                                        " images, but " + labels.path + " has " +
                                        std::to_string(labels.dims[0]) + " labels");
  if (images.elements.empty())
    throw Error(Errc::corrupt_file, images.path + ": expected images, got none");
}

void check_labels(const IdxFile& labels, int classes) {
  for (std::size_t i = 0; i < labels.elements.size(); ++i)
    if (labels.elements[i] >= classes)
      throw Error(Errc::invalid_data, labels.path + ": sample " + std::to_string(i) +
                                          " has label " + std::to_string(labels.elements[i]) +
                                          ", expected 0 to " + std::to_string(classes - 1));
}

std::string find_in(const std::string& directory, const std::string& name) {
  const auto path = std::filesystem::path(directory) / name;
  std::error_code ignored;
  for (const std::string& candidate : {path.string(), path.string() + ".gz"})
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  throw Error(Errc::io_error, path.string() + "[.gz]: expected an IDX file, there is none");
}

}  // namespace

std::shared_ptr<const Dataset> read_idx(const std::string& images, const std::string& labels,
                                        const Normalization& normalization, int classes) {
  if (classes < 1)
    throw Error(Errc::invalid_argument,
                "read_idx: expected at least 1 class, got " + std::to_string(classes));
  IdxFile image_file = read_idx_file(images, 3), label_file = read_idx_file(labels, 1);
  check_counts(image_file, label_file);
  check_labels(label_file, classes);
  return std::make_shared<IdxDataset>(std::move(image_file), std::move(label_file), normalization);
}

std::shared_ptr<const Dataset> read_idx(const std::string& directory, Split split,
                                        const Normalization& normalization, int classes) {
  const std::vector<std::string> files = idx_files(directory, split);
  return read_idx(files[0], files[1], normalization, classes);
}

std::vector<std::string> idx_files(const std::string& directory, Split split) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  return {find_in(directory, prefix + "-images-idx3-ubyte"),
          find_in(directory, prefix + "-labels-idx1-ubyte")};
}

}  // namespace penstock
