#include "penstock/transforms.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engine/datasets/normalizer.hpp"
#include "graph/ir/random.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

struct ImageSize {
  std::int64_t channels = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DType dtype = DType::f32;
};

/// Returns the size of the images of `dataset`, and checks that they are f32 or, if `bytes` says
/// so, u8.
ImageSize image_size(const std::string& subject, const std::shared_ptr<const Dataset>& dataset,
                     bool bytes = false) {
  if (!dataset) throw Error(Errc::invalid_argument, subject + ": expected a dataset, got none");
  const auto fields = call_host([&]() -> std::vector<Field> { return dataset->fields(); });
  if (fields.empty())
    throw Error(Errc::shape_mismatch,
                subject + ": expected an image as first field, got no fields");
  const Field& field = fields.front();
  const bool fits = field.dtype == DType::f32 || (bytes && field.dtype == DType::u8);
  if (!fits || field.shape.rank() != 3)
    throw Error(Errc::shape_mismatch,
                subject + ": expected f32 " + (bytes ? "or u8 " : "") +
                    "[channels,rows,columns] as first field, got " +
                    (field.name.empty() ? "" : quoted_text(field.name) + " ") +
                    std::string(to_string(field.dtype)) + " " + to_string(field.shape));
  return {field.shape[0], field.shape[1], field.shape[2], field.dtype};
}

/// A Transformed is a dataset that reads a sample of another dataset and then changes the sample's
/// image, which may be of u8 if `bytes` says so.
class Transformed : public Dataset {
 public:
  Transformed(const std::string& subject, std::shared_ptr<const Dataset> dataset,
              bool bytes = false)
      : size_(image_size(subject, dataset, bytes)), dataset_(std::move(dataset)) {}

  std::int64_t size() const override { return dataset_->size(); }
  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    call_host([&] { dataset_->read(request, destinations); });
    change(request, destinations[0]);
  }

 protected:
  virtual void change(const SampleRequest& request, std::byte* image) const = 0;
  const ImageSize& image() const noexcept { return size_; }

 private:
  ImageSize size_;
  std::shared_ptr<const Dataset> dataset_;
};

std::array<std::uint32_t, 4> draw(const char* name, std::uint64_t seed,
                                  const SampleRequest& request) {
  return graph::philox({.seed = seed, .update = request.epoch, .name = graph::hash_name(name)},
                       static_cast<std::uint64_t>(request.index));
}

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
    const std::uint32_t bits = draw("random_horizontal_flip", flip_.seed, request)[0];
    if (!(graph::to_unit(bits) < static_cast<float>(flip_.probability))) return;
    with_element_type(image().dtype, [&]<class T>() {
      T* const image_data = reinterpret_cast<T*>(bytes);
      for (std::int64_t row = 0; row < image().channels * image().rows; ++row)
        std::reverse(image_data + row * image().columns, image_data + (row + 1) * image().columns);
    });
  }

  RandomFlip flip_;
};

/// A Cropped is no Transformed dataset, because its images have another size than those of the
/// dataset that it reads.
class Cropped : public Dataset {
 public:
  Cropped(std::shared_ptr<const Dataset> dataset, const RandomCrop& crop)
      : size_(image_size("random_crop", dataset, true)),
        crop_(crop),
        dataset_(std::move(dataset)),
        fields_(call_host([&]() -> std::vector<Field> { return dataset_->fields(); })) {
    check_number("random_crop.padding", static_cast<double>(crop.padding), {0, 1 << 20});
    check_side("rows", crop.rows, size_.rows);
    check_side("columns", crop.columns, size_.columns);
    fields_.front().shape = {size_.channels, crop.rows, crop.columns};
  }

  std::int64_t size() const override { return dataset_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    with_element_type(size_.dtype, [&]<class T>() {
      std::vector<T> whole(static_cast<std::size_t>(size_.channels * size_.rows * size_.columns));
      std::vector<std::byte*> inner(destinations.begin(), destinations.end());
      inner[0] = reinterpret_cast<std::byte*>(whole.data());
      call_host([&] { dataset_->read(request, inner); });
      copy_window(whole, draw("random_crop", crop_.seed, request),
                  reinterpret_cast<T*>(destinations[0]));
    });
  }

 private:
  void check_side(const char* side, std::int64_t wanted, std::int64_t has) const {
    check_number(std::string("random_crop.") + side, static_cast<double>(wanted),
                 {1, static_cast<double>(has + 2 * crop_.padding)});
  }

  /// Returns the row or column in which a window of `wanted` pixels begins. It counts from the
  /// image without padding, so that it is negative in the padding before the image. The 64 random
  /// bits are so many that the remainder has no noticeable bias.
  std::int64_t offset(std::uint64_t bits, std::int64_t has, std::int64_t wanted) const {
    const auto places = static_cast<std::uint64_t>(has + 2 * crop_.padding - wanted + 1);
    return static_cast<std::int64_t>(bits % places) - crop_.padding;
  }

  template <class T>
  void copy_window(const std::vector<T>& whole, const std::array<std::uint32_t, 4>& draws,
                   T* destination) const {
    const std::int64_t top =
        offset(std::uint64_t{draws[0]} << 32 | draws[1], size_.rows, crop_.rows);
    const std::int64_t left =
        offset(std::uint64_t{draws[2]} << 32 | draws[3], size_.columns, crop_.columns);
    for (std::int64_t channel = 0; channel < size_.channels; ++channel)
      for (std::int64_t row = top; row < top + crop_.rows; ++row, destination += crop_.columns) {
        const bool inside = row >= 0 && row < size_.rows;
        const std::int64_t first = (channel * size_.rows + row) * size_.columns;
        copy_row(inside ? whole.data() + first : nullptr, left, destination);
      }
  }

  /// Copies a row of the image, or a row of the padding if `source` is null.
  template <class T>
  void copy_row(const T* source, std::int64_t left, T* destination) const {
    const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, crop_.columns);
    const std::int64_t end = std::clamp<std::int64_t>(size_.columns - left, begin, crop_.columns);
    std::fill_n(destination, crop_.columns, T{});
    if (source && begin < end)
      std::copy(source + left + begin, source + left + end, destination + begin);
  }

  ImageSize size_;
  RandomCrop crop_;
  std::shared_ptr<const Dataset> dataset_;
  std::vector<Field> fields_;
};

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
    return std::make_shared<Cropped>(std::move(dataset), crop);
  });
}

std::shared_ptr<const Dataset> random_horizontal_flip(std::shared_ptr<const Dataset> dataset,
                                                      const RandomFlip& flip) {
  return on_hosts_thread("random_horizontal_flip", [&]() -> std::shared_ptr<const Dataset> {
    return std::make_shared<Flipped>(std::move(dataset), flip);
  });
}

}  // namespace penstock
