#include "penstock/transforms.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/datasets/normalizer.hpp"
#include "engine/datasets/transformed.hpp"
#include "graph/ir/random.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class Normalized : public Transformed {
 public:
  Normalized(std::shared_ptr<const Dataset> dataset, const ChannelNormalization& normalization)
      : Transformed("normalize", std::move(dataset)) {
    check_counts(normalization);
    for (std::size_t i = 0; i < normalization.mean.size(); ++i) {
      const Normalization channel{normalization.mean[i], normalization.std[i]};
      check_normalization("normalize: channel " + std::to_string(i), channel);
      channels_.push_back({static_cast<float>(channel.mean), static_cast<float>(channel.std)});
    }
  }

 private:
  struct Channel {
    float mean = 0;
    float std = 1;
  };

  void check_counts(const ChannelNormalization& normalization) const {
    const auto expected = static_cast<std::size_t>(image().channels);
    if (normalization.mean.size() != expected || normalization.std.size() != expected)
      throw Error(Errc::invalid_argument, "normalize: expected a mean and a std for each of " +
                                              std::to_string(expected) + " channels, got " +
                                              std::to_string(normalization.mean.size()) + " and " +
                                              std::to_string(normalization.std.size()));
  }

  void change(const SampleRequest&, std::byte* bytes) const override {
    auto* image_data = reinterpret_cast<float*>(bytes);
    const std::int64_t pixels = image().rows * image().columns;
    for (const Channel& channel : channels_) {
      std::transform(image_data, image_data + pixels, image_data,
                     [&](float x) { return (x - channel.mean) / channel.std; });
      image_data += pixels;
    }
  }

  std::vector<Channel> channels_;
};

class Flipped : public Transformed {
 public:
  Flipped(std::shared_ptr<const Dataset> dataset, const RandomFlip& flip)
      : Transformed("random_horizontal_flip", std::move(dataset), true), flip_(flip) {
    check_number("random_horizontal_flip.probability", flip.probability, {0, 1});
  }

 private:
  void change(const SampleRequest& request, std::byte* bytes) const override {
    const std::uint32_t bits = draw_for_sample("random_horizontal_flip", flip_.seed, request)[0];
    if (!(graph::to_unit(bits) < static_cast<float>(flip_.probability))) return;
    with_element_type(image().dtype, [&]<class T>() {
      T* const image_data = reinterpret_cast<T*>(bytes);
      for (std::int64_t row = 0; row < image().channels * image().rows; ++row)
        std::reverse(image_data + row * image().columns, image_data + (row + 1) * image().columns);
    });
  }

  RandomFlip flip_;
};

class Cropped : public Reframed {
 public:
  Cropped(const ImageSize& image, std::shared_ptr<const Dataset> dataset, const RandomCrop& crop)
      : Reframed(image, std::move(dataset), crop.rows, crop.columns), crop_(crop) {}

 private:
  void make(const SampleRequest& request, const std::byte* whole,
            std::byte* destination) const override {
    with_element_type(image().dtype, [&]<class T>() {
      copy_window(reinterpret_cast<const T*>(whole),
                  draw_for_sample("random_crop", crop_.seed, request),
                  reinterpret_cast<T*>(destination));
    });
  }

  /// Returns the row or column in which a window of `wanted` pixels begins. It counts from the
  /// image without padding, so that it is negative in the padding before the image. The 64 random
  /// bits are so many that the remainder has no noticeable bias.
  std::int64_t offset(std::uint64_t bits, std::int64_t has, std::int64_t wanted) const {
    const auto places = static_cast<std::uint64_t>(has + 2 * crop_.padding - wanted + 1);
    return static_cast<std::int64_t>(bits % places) - crop_.padding;
  }

  template <class T>
  void copy_window(const T* whole, const std::array<std::uint32_t, 4>& draws,
                   T* destination) const {
    const auto [channels, rows, columns] = image().planes();
    const std::int64_t top = offset(std::uint64_t{draws[0]} << 32 | draws[1], rows, crop_.rows);
    const std::int64_t left =
        offset(std::uint64_t{draws[2]} << 32 | draws[3], columns, crop_.columns);
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for (std::int64_t row = top; row < top + crop_.rows; ++row, destination += crop_.columns) {
        const bool inside = row >= 0 && row < rows;
        copy_row(inside ? whole + (channel * rows + row) * columns : nullptr, left, destination);
      }
  }

  /// Copies a row of the image, or a row of the padding if `source` is null.
  template <class T>
  void copy_row(const T* source, std::int64_t left, T* destination) const {
    const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, crop_.columns);
    const std::int64_t end = std::clamp<std::int64_t>(image().columns - left, begin, crop_.columns);
    std::fill_n(destination, crop_.columns, T{});
    if (source && begin < end)
      std::copy(source + left + begin, source + left + end, destination + begin);
  }

  RandomCrop crop_;
};

void check_crop(const RandomCrop& crop, const ImageSize& image) {
  check_number("random_crop.padding", static_cast<double>(crop.padding), {0, 1 << 20});
  const auto check_side = [&](const char* side, std::int64_t wanted, std::int64_t has) {
    check_number(std::string("random_crop.") + side, static_cast<double>(wanted),
                 {1, static_cast<double>(has + 2 * crop.padding)});
  };
  check_side("rows", crop.rows, image.rows);
  check_side("columns", crop.columns, image.columns);
}

}  // namespace

std::shared_ptr<const Dataset> normalize(std::shared_ptr<const Dataset> dataset,
                                         const ChannelNormalization& normalization) {
  return on_hosts_thread("normalize", [&]() -> std::shared_ptr<const Dataset> {
    return std::make_shared<Normalized>(std::move(dataset), normalization);
  });
}

std::shared_ptr<const Dataset> random_crop(std::shared_ptr<const Dataset> dataset,
                                           const RandomCrop& crop) {
  return on_hosts_thread("random_crop", [&]() -> std::shared_ptr<const Dataset> {
    const ImageSize image = image_size("random_crop", dataset, true);
    check_crop(crop, image);
    return std::make_shared<Cropped>(image, std::move(dataset), crop);
  });
}

std::shared_ptr<const Dataset> random_horizontal_flip(std::shared_ptr<const Dataset> dataset,
                                                      const RandomFlip& flip) {
  return on_hosts_thread("random_horizontal_flip", [&]() -> std::shared_ptr<const Dataset> {
    return std::make_shared<Flipped>(std::move(dataset), flip);
  });
}

}  // namespace penstock
