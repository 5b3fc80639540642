#include "apps/trainer/images.hpp"

#include <string>

#include "penstock/error.hpp"
#include "penstock/transforms.hpp"

namespace trainer {
namespace {

constexpr std::int64_t synthetic_training_images = 12000;
constexpr std::int64_t synthetic_test_images = 2000;

constexpr const char* fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

/// Returns generated images. The test images are generated from `seed` with its highest bit
/// flipped, so that they differ from the training images.
Images synthetic_images(std::uint64_t seed, const penstock::Normalization& normalization) {
  constexpr std::uint64_t test = std::uint64_t{1} << 63;
  return {penstock::synthetic_digits(synthetic_training_images, seed, normalization),
          penstock::synthetic_digits(synthetic_test_images, seed ^ test, normalization)};
}

/// Returns a text that says what to do if the files of the data set are not there.
std::string advice(const DataOptions& options) {
  if (options.dataset == DatasetName::mnist)
    return "; tell with --data-dir where MNIST's four IDX files are";
  if (options.dataset == DatasetName::cifar10)
    return "; tell with --data-dir where CIFAR-10's binary batches are";
  return "; install the package dataset-fashion-mnist, or tell with --data-dir where "
         "Fashion-MNIST's four IDX files are";
}

std::shared_ptr<const penstock::Dataset> read_cifar10(
    const std::string& directory, penstock::Split split,
    const penstock::Normalization& normalization) {
  const std::vector<double> mean(3, normalization.mean), std(3, normalization.std);
  return normalize(penstock::read_cifar10(directory, split), {mean, std});
}

/// Returns one split of the data, and adds the paths of its files to `files`.
std::shared_ptr<const penstock::Dataset> read_split(const DataOptions& options,
                                                    const std::string& directory,
                                                    penstock::Split split,
                                                    const penstock::Normalization& normalization,
                                                    const penstock::Shape& image,
                                                    std::vector<std::string>& files) {
  constexpr int classes = 10;
  const bool cifar10 = options.dataset == DatasetName::cifar10;
  auto images = cifar10 ? read_cifar10(directory, split, normalization)
                        : penstock::read_idx(directory, split, normalization, classes, image);
  for (std::string& file :
       cifar10 ? penstock::cifar10_files(directory, split) : penstock::idx_files(directory, split))
    files.push_back(std::move(file));
  return images;
}

Images read_images(const DataOptions& options, const std::string& directory,
                   const penstock::Normalization& normalization, const penstock::Shape& image,
                   const std::function<void()>& on_read) try {
  Images images;
  images.train =
      read_split(options, directory, penstock::Split::train, normalization, image, images.files);
  on_read();
  images.test =
      read_split(options, directory, penstock::Split::test, normalization, image, images.files);
  on_read();
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

/// Checks that the images of `dataset` have the shape `expected`, which is the shape that the
/// network takes. The check reads no file.
void check_kind(DatasetName dataset, const penstock::Shape& expected) {
  const penstock::Shape cifar10{3, 32, 32}, digits{1, 28, 28};
  const bool is_cifar10 = dataset == DatasetName::cifar10;
  if (is_cifar10 == (expected == cifar10)) return;
  throw penstock::Error(penstock::Errc::invalid_data,
                        "--dataset " + std::string(to_string(dataset)) + ": expected images of " +
                            to_string(expected) + ", got " +
                            to_string(is_cifar10 ? cifar10 : digits) +
                            (is_cifar10 ? "; add --model cifar-cnn, which takes these"
                                        : "; add --dataset cifar10, whose images --model takes"));
}

}  // namespace

Images open_images(const DataOptions& options, std::uint64_t seed,
                   const penstock::Normalization& normalization, const penstock::Shape& image,
                   const std::function<void()>& on_read) {
  const bool synthetic = options.dataset == DatasetName::synthetic;
  check_kind(options.dataset, image);
  const std::string where =
      synthetic ? "--dataset synthetic" : options.data_dir.value_or(fashion_mnist_directory);
  const Images images = synthetic ? synthetic_images(seed, normalization)
                                  : read_images(options, where, normalization, image, on_read);
  check(*images.train, image, where + ", training images");
  check(*images.test, image, where + ", test images");
  return images;
}

}  // namespace trainer
