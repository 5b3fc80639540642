#include "apps/trainer/images.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "apps/trainer/image_folders.hpp"
#include "penstock/error.hpp"
#include "penstock/transforms.hpp"

namespace trainer {
namespace {

using penstock::Normalization;
using penstock::Shape;
using penstock::Split;
using penstock::networks::ImageKind;
using penstock::networks::Network;
using DatasetPointer = std::shared_ptr<const penstock::Dataset>;

constexpr std::int64_t synthetic_training_images = 12000;
constexpr std::int64_t synthetic_test_images = 2000;

constexpr const char* fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

/// Returns generated images. The test images are generated from `seed` with its highest bit
/// flipped, so that they differ from the training images.
Images synthetic_images(std::uint64_t seed, const Normalization& normalization) {
  constexpr std::uint64_t test = std::uint64_t{1} << 63;
  return {penstock::synthetic_digits(synthetic_training_images, seed, normalization),
          penstock::synthetic_digits(synthetic_test_images, seed ^ test, normalization)};
}

/// Returns a text that says what to do if the files of the data set are not there.
std::string advice(const DataOptions& options) {
  if (options.dataset == DatasetName::mnist)
    return "; tell with --data-dir where MNIST's four IDX files are, or get them there with "
           "--download mnist";
  if (options.dataset == DatasetName::cifar10)
    return "; tell with --data-dir where CIFAR-10's binary batches are, or get them there with "
           "--download cifar10";
  if (options.dataset == DatasetName::folder)
    return "; tell with --data-dir where the folders train and test are";
  return "; install the package dataset-fashion-mnist, or tell with --data-dir where "
         "Fashion-MNIST's four IDX files are";
}

/// Returns `error`, with advice if a file could not be read.
penstock::Error with_advice(const penstock::Error& error, const DataOptions& options) {
  if (error.code() != penstock::Errc::io_error) return error;
  return {error.code(), error.what() + advice(options)};
}

/// An ImageDemand says how images are read. If `image` is set, they must have this shape. There are
/// `classes` classes at most.
struct ImageDemand {
  Normalization normalization;
  std::optional<Shape> image = {};
  int classes = 10;
};

bool is_cifar10(const DataOptions& options) {
  return options.dataset == DatasetName::cifar10;
}

ImageDemand demand_of(const Network& network, const DataOptions& options) {
  constexpr int classes_of_bytes = 256;
  if (!network.takes_all_images)
    return {network.normalization, network.images.shape(),
            static_cast<int>(std::min<std::int64_t>(network.images.classes, classes_of_bytes))};
  return {.normalization = is_cifar10(options) ? penstock::networks::cifar10_pixels
                                               : penstock::networks::mnist_pixels,
          .classes = classes_of_bytes};
}

DatasetPointer read_cifar10(const std::string& directory, Split split,
                            const Normalization& normalization) {
  const std::vector<double> mean(3, normalization.mean), std(3, normalization.std);
  return normalize(penstock::read_cifar10(directory, split), {mean, std});
}

/// Returns one split of the data, and adds the paths of its files to `files`.
DatasetPointer read_split(const DataOptions& options, const std::string& directory, Split split,
                          const ImageDemand& demand, std::vector<std::string>& files) {
  const bool cifar10 = is_cifar10(options);
  auto images = cifar10 ? read_cifar10(directory, split, demand.normalization)
                        : penstock::read_idx(directory, split, demand.normalization, demand.classes,
                                             demand.image);
  for (std::string& file :
       cifar10 ? penstock::cifar10_files(directory, split) : penstock::idx_files(directory, split))
    files.push_back(std::move(file));
  return images;
}

Images read_images(const DataOptions& options, const std::string& directory,
                   const ImageDemand& demand, const std::function<void()>& on_read) try {
  Images images;
  images.train = read_split(options, directory, Split::train, demand, images.files);
  on_read();
  images.test = read_split(options, directory, Split::test, demand, images.files);
  on_read();
  return images;
} catch (const penstock::Error& error) {
  throw with_advice(error, options);
}

const Shape& shape_of(const penstock::Dataset& images) {
  return images.fields().front().shape;
}

void check(const penstock::Dataset& images, const Shape& expected, const std::string& where) {
  const Shape& shape = shape_of(images);
  if (shape != expected)
    throw penstock::Error(
        penstock::Errc::invalid_data,
        where + ": expected images of " + to_string(expected) + ", got " + to_string(shape));
  if (images.size() == 0)
    throw penstock::Error(penstock::Errc::invalid_data, where + ": there are no images");
}

/// Returns whether the network is one of a file, for which the trainer has no layers.
bool is_imported(const Network& network) {
  return network.layers == nullptr;
}

/// Checks that the network of a file takes the images of CIFAR-10, or generated ones, and tells
/// their classes apart. Other images are checked when they are read.
void check_imported(DatasetName dataset, const Network& network) {
  if (dataset != DatasetName::cifar10 && dataset != DatasetName::synthetic) return;
  const ImageKind kind = dataset == DatasetName::cifar10 ? penstock::networks::cifar10_images
                                                         : penstock::networks::mnist_images;
  const ImageKind& takes = network.images;
  if (takes.shape() == kind.shape() && takes.classes >= kind.classes) return;
  throw penstock::Error(penstock::Errc::invalid_data,
                        "--dataset " + std::string(to_string(dataset)) + ": expected images " +
                            to_string(takes) + ", which " + std::string(network.name) +
                            " takes, got " + to_string(kind) +
                            "; --dataset folder has images of any size");
}

/// Checks that the images of `dataset` have the shape `expected`, which is the shape that the
/// network takes. The check reads no file.
void check_kind(DatasetName dataset, const Shape& expected) {
  const Shape cifar10 = penstock::networks::cifar10_images.shape();
  const Shape digits = penstock::networks::mnist_images.shape();
  const bool is_cifar10 = dataset == DatasetName::cifar10;
  if (is_cifar10 == (expected == cifar10)) return;
  throw penstock::Error(penstock::Errc::invalid_data,
                        "--dataset " + std::string(to_string(dataset)) + ": expected images of " +
                            to_string(expected) + ", got " +
                            to_string(is_cifar10 ? cifar10 : digits) +
                            (is_cifar10 ? "; add --model cifar-cnn, which takes these"
                                        : "; add --dataset cifar10, whose images --model takes"));
}

/// Returns the largest label of `images`, or -1 if there is no image.
std::int64_t largest_label(const penstock::Dataset& images) {
  std::vector<std::byte> image(static_cast<std::size_t>(shape_of(images).elements()) *
                               sizeof(float));
  std::int64_t label = -1, largest = -1;
  std::byte* const destinations[] = {image.data(), reinterpret_cast<std::byte*>(&label)};
  for (std::int64_t i = 0; i < images.size(); ++i) {
    images.read({.index = i}, destinations);
    largest = std::max(largest, label);
  }
  return largest;
}

/// Returns the kind of the images, which `where` names in a refusal. The labels of IDX files say
/// how many classes there are.
ImageKind kind_of(const DataOptions& options, const Images& images, const std::string& where) {
  if (is_cifar10(options)) return penstock::networks::cifar10_images;
  if (options.dataset == DatasetName::synthetic) return penstock::networks::mnist_images;
  const Shape& shape = shape_of(*images.train);
  const std::int64_t classes =
      std::max(largest_label(*images.train), largest_label(*images.test)) + 1;
  if (classes < 2)
    throw penstock::Error(penstock::Errc::invalid_data,
                          where + ": expected labels of two classes or more, got none but 0");
  return {.channels = shape[0], .height = shape[1], .width = shape[2], .classes = classes};
}

/// Reads folders of images, which get the shape that the network takes or, if it takes all images,
/// that of `options`.
Images folder_images(const DataOptions& options, std::uint64_t seed, const Network& network,
                     const std::function<void()>& on_read) try {
  constexpr std::int64_t most_classes = 10'000;
  ImageKind kind = network.images;
  if (options.image_size && !network.takes_all_images)
    throw penstock::Error(penstock::Errc::invalid_argument,
                          "--image-size: " + std::string(network.name) + " takes images of " +
                              to_string(kind.shape()) + " alone; leave it out");
  if (options.image_size) kind.height = kind.width = *options.image_size;
  if (kind.channels != 1 && kind.channels != 3)
    throw penstock::Error(penstock::Errc::invalid_data,
                          "--dataset folder: has images of 1 or 3 channels, and " +
                              std::string(network.name) + " takes " + to_string(kind.shape()));
  FolderImages folders = read_folders(
      options.data_dir.value(),
      {.normalization = network.normalization,
       .image = kind.shape(),
       .most_classes = network.takes_all_images ? most_classes : kind.classes,
       .random_crops = options.random_crops,
       .seed = seed,
       .broken = options.broken_images == BrokenImagesName::skip ? penstock::BrokenImages::skipped
                                                                 : penstock::BrokenImages::refused},
      on_read);
  if (network.takes_all_images) kind.classes = folders.classes;
  if (kind.classes < 2)
    throw penstock::Error(penstock::Errc::invalid_data,
                          *options.data_dir + ": expected folders of two classes or more, got " +
                              std::to_string(kind.classes));
  const std::string& directory = *options.data_dir;
  return {folders.train,
          folders.test,
          {directory + "/train", directory + "/test"},
          kind,
          std::move(folders.notes),
          network.normalization};
} catch (const penstock::Error& error) {
  throw with_advice(error, options);
}

}  // namespace

Images open_images(const DataOptions& options, std::uint64_t seed, const Network& network,
                   const std::function<void()>& on_read) {
  if (options.dataset == DatasetName::folder) return folder_images(options, seed, network, on_read);
  const bool synthetic = options.dataset == DatasetName::synthetic;
  if (is_imported(network))
    check_imported(options.dataset, network);
  else if (!network.takes_all_images)
    check_kind(options.dataset, network.images.shape());
  const std::string where =
      synthetic ? "--dataset synthetic" : options.data_dir.value_or(fashion_mnist_directory);
  const ImageDemand demand = demand_of(network, options);
  Images images = synthetic ? synthetic_images(seed, demand.normalization)
                            : read_images(options, where, demand, on_read);
  const Shape expected = demand.image.value_or(shape_of(*images.train));
  check(*images.train, expected, where + ", training images");
  check(*images.test, expected, where + ", test images");
  images.kind = network.takes_all_images ? kind_of(options, images, where) : network.images;
  images.normalization = demand.normalization;
  return images;
}

}  // namespace trainer
