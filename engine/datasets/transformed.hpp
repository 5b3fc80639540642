// A Transformed and a Reframed are datasets that read a sample of another dataset and change its
// image, which is the first field. All transforms are made of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/images/resample.hpp"
#include "penstock/dataset.hpp"

namespace penstock {

struct ImageSize {
  std::int64_t channels = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  DType dtype = DType::f32;

  PlaneSize planes() const noexcept { return {channels, rows, columns}; }
};

/// Returns the size of the images of `dataset`, and checks that they are f32 or, if `bytes` says
/// so, u8.
/// @throws Error shape_mismatch, whose text begins with `subject`.
ImageSize image_size(const std::string& subject, const std::shared_ptr<const Dataset>& dataset,
                     bool bytes = false);

/// Returns four random numbers that depend on the arguments alone.
std::array<std::uint32_t, 4> draw_for_sample(const char* name, std::uint64_t seed,
                                             const SampleRequest& request,
                                             std::uint32_t number = 0);

/// A Transformed is a dataset that reads a sample of another dataset and then changes the sample's
/// image, which may be of u8 if `bytes` says so.
class Transformed : public Dataset {
 public:
  Transformed(const std::string& subject, std::shared_ptr<const Dataset> dataset,
              bool bytes = false);

  std::int64_t size() const override { return dataset_->size(); }
  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override;

 protected:
  virtual void change(const SampleRequest& request, std::byte* image) const = 0;
  const ImageSize& image() const noexcept { return size_; }

 private:
  ImageSize size_;
  std::shared_ptr<const Dataset> dataset_;
};

/// A Reframed is a dataset whose images, f32 or u8, have another size than those of the dataset
/// that it reads.
class Reframed : public Dataset {
 public:
  /// Makes a dataset of images of the size `image`, which is image_size() of `dataset`, that become
  /// images of `rows` times `columns` pixels.
  Reframed(const ImageSize& image, std::shared_ptr<const Dataset> dataset, std::int64_t rows,
           std::int64_t columns);

  std::int64_t size() const override { return dataset_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override;

 protected:
  /// Makes the image at `destination` of the image `whole`.
  virtual void make(const SampleRequest& request, const std::byte* whole,
                    std::byte* destination) const = 0;
  const ImageSize& image() const noexcept { return size_; }

 private:
  ImageSize size_;
  std::shared_ptr<const Dataset> dataset_;
  std::vector<Field> fields_;
};

}  // namespace penstock
