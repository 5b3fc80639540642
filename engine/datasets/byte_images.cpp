#include "engine/datasets/byte_images.hpp"

#include <cstring>

#include "penstock/error.hpp"

namespace penstock {
namespace {

class ByteImages : public Dataset {
 public:
  ByteImages(const Shape& image, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels,
             const PixelFormat& format)
      : writer_(format),
        fields_(writer_.fields(image)),
        pixels_per_image_(static_cast<std::size_t>(image.elements())),
        pixels_(std::move(pixels)),
        labels_(std::move(labels)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const auto i = static_cast<std::size_t>(request.index);
    writer_.write({pixels_.data() + i * pixels_per_image_, pixels_per_image_}, destinations[0]);
    const std::int64_t label = labels_[i];
    std::memcpy(destinations[1], &label, sizeof label);
  }

 private:
  PixelWriter writer_;
  std::vector<Field> fields_;
  std::size_t pixels_per_image_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace

std::shared_ptr<const Dataset> byte_images(const Shape& image, std::vector<std::uint8_t> pixels,
                                           std::vector<std::uint8_t> labels,
                                           const PixelFormat& format) {
  return std::make_shared<ByteImages>(image, std::move(pixels), std::move(labels), format);
}

void check_labels(const std::string& path, std::span<const std::uint8_t> labels, int classes) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw Error(Errc::invalid_data, path + ": sample " + std::to_string(i) + " has label " +
                                          std::to_string(labels[i]) + ", expected 0 to " +
                                          std::to_string(classes - 1));
}

}  // namespace penstock
