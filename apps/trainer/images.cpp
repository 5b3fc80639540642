#include "apps/trainer/images.hpp"

#include <string>

#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr std::int64_t synthetic_training_images = 12000;
constexpr std::int64_t synthetic_test_images = 2000;

constexpr const char* fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

/// The test's images come from another stream of numbers than those of any other seed.
Images synthetic_images(std::uint64_t seed, const penstock::Normalization& normalization) {
  constexpr std::uint64_t test = std::uint64_t{1} << 63;
  return {penstock::synthetic_digits(synthetic_training_images, seed, normalization),
          penstock::synthetic_digits(synthetic_test_images, seed ^ test, normalization)};
}

/// What to do about files that are not there.
std::string advice(const DataOptions& options) {
  if (options.dataset == DatasetName::mnist)
    return "; tell with --data-dir where MNIST's four IDX files are";
  return "; install the package dataset-fashion-mnist, or tell with --data-dir where "
         "Fashion-MNIST's four IDX files are";
}

Images read_images(const DataOptions& options, const std::string& directory,
                   const penstock::Normalization& normalization) try {
  using enum penstock::Split;
  Images images{penstock::read_idx(directory, train, normalization),
                penstock::read_idx(directory, test, normalization),
                penstock::idx_files(directory, train)};
  const std::vector<std::string> test_files = penstock::idx_files(directory, test);
  images.files.insert(images.files.end(), test_files.begin(), test_files.end());
  return images;
} catch (const penstock::Error& error) {
  if (error.code() != penstock::Errc::io_error) throw;
  throw penstock::Error(error.code(), error.what() + advice(options));
}

void check(const penstock::Dataset& images, const penstock::Shape& expected,
           const std::string& where) {
  const penstock::Shape& shape = images.fields().front().shape;
  if (shape != expected)
    throw penstock::Error(
        penstock::Errc::invalid_data,
        where + ": expected images of " + to_string(expected) + ", got " + to_string(shape));
  if (images.size() == 0)
    throw penstock::Error(penstock::Errc::invalid_data, where + ": there are no images");
}

}  // namespace

Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::Normalization& normalization, const penstock::Shape& image) {
  if (options.dataset == DatasetName::synthetic) return synthetic_images(seed, normalization);
  const std::string where = options.data_dir.value_or(fashion_mnist_directory);
  const Images images = read_images(options, where, normalization);
  check(*images.train, image, where + ", training images");
  check(*images.test, image, where + ", test images");
  return images;
}

}  // namespace trainer
