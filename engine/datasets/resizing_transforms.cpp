#include <algorithm>
#include <cmath>
#include <string>

#include "engine/datasets/transformed.hpp"
#include "engine/images/image_windows.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"
#include "penstock/transforms.hpp"

namespace penstock {
namespace {

/// A ResizedWindow has windows of the images of another dataset, resized to one size.
class ResizedWindow : public Reframed {
 public:
  using Reframed::Reframed;

 protected:
  void make(const SampleRequest& request, const std::byte* whole,
            std::byte* destination) const override {
    const PlaneSize size = image().planes();
    const Shape& result = fields().front().shape;
    const auto elements = static_cast<std::size_t>(size.elements());
    const Resizing resizing = Resizing::whole(window(request), result[1], result[2]);
    const auto resize_as = [&]<class T>() {
      resize_image(std::span(reinterpret_cast<const T*>(whole), elements), size, resizing,
                   reinterpret_cast<T*>(destination));
    };
    if (image().dtype == DType::f32)
      resize_as.template operator()<float>();
    else
      resize_as.template operator()<std::uint8_t>();
  }

 private:
  virtual ImageWindow window(const SampleRequest&) const {
    return {0, 0, image().rows, image().columns};
  }
};

class RandomlyResized : public ResizedWindow {
 public:
  RandomlyResized(const ImageSize& image, std::shared_ptr<const Dataset> dataset,
                  const RandomResizedCrop& crop)
      : ResizedWindow(image, std::move(dataset), crop.rows, crop.columns), crop_(crop) {}

 private:
  ImageWindow window(const SampleRequest& request) const override {
    return random_window(image().planes(), crop_, request);
  }

  RandomResizedCrop crop_;
};

class CenterCropped : public Reframed {
 public:
  using Reframed::Reframed;

 private:
  void make(const SampleRequest&, const std::byte* whole, std::byte* destination) const override {
    const auto [channels, rows, columns] = image().planes();
    const Shape& result = fields().front().shape;
    const ImageWindow window = center_window(image().planes(), result[1], result[2]);
    const std::size_t bytes = size_of(image().dtype);
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for (std::int64_t row = 0; row < window.rows; ++row) {
        const std::int64_t first = (channel * rows + window.top + row) * columns + window.left;
        destination = std::copy_n(whole + static_cast<std::size_t>(first) * bytes,
                                  static_cast<std::size_t>(window.columns) * bytes, destination);
      }
  }
};

/// Returns the size of the images of `dataset`, which have a pixel.
ImageSize resizable_size(const std::string& subject,
                         const std::shared_ptr<const Dataset>& dataset) {
  const ImageSize image = image_size(subject, dataset, true);
  if (image.rows < 1 || image.columns < 1)
    throw Error(Errc::shape_mismatch,
                subject + ": expected images with pixels, got " +
                    to_string(Shape{image.channels, image.rows, image.columns}));
  return image;
}

}  // namespace

std::shared_ptr<const Dataset> resize(std::shared_ptr<const Dataset> dataset, const Resize& size) {
  return on_hosts_thread("resize", [&]() -> std::shared_ptr<const Dataset> {
    const ImageSize image = resizable_size("resize", dataset);
    check_result_size("resize", size.rows, size.columns);
    return std::make_shared<ResizedWindow>(image, std::move(dataset), size.rows, size.columns);
  });
}

std::shared_ptr<const Dataset> center_crop(std::shared_ptr<const Dataset> dataset,
                                           const CenterCrop& crop) {
  return on_hosts_thread("center_crop", [&]() -> std::shared_ptr<const Dataset> {
    const ImageSize image = image_size("center_crop", dataset, true);
    check_number("center_crop.rows", static_cast<double>(crop.rows),
                 {1, static_cast<double>(image.rows)});
    check_number("center_crop.columns", static_cast<double>(crop.columns),
                 {1, static_cast<double>(image.columns)});
    return std::make_shared<CenterCropped>(image, std::move(dataset), crop.rows, crop.columns);
  });
}

std::shared_ptr<const Dataset> random_resized_crop(std::shared_ptr<const Dataset> dataset,
                                                   const RandomResizedCrop& crop) {
  return on_hosts_thread("random_resized_crop", [&]() -> std::shared_ptr<const Dataset> {
    const ImageSize image = resizable_size("random_resized_crop", dataset);
    check_random_resized_crop(crop);
    return std::make_shared<RandomlyResized>(image, std::move(dataset), crop);
  });
}

}  // namespace penstock
