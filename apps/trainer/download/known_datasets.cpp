#include "apps/trainer/download/known_datasets.hpp"

#include "apps/trainer/options/refuse.hpp"

namespace trainer {
namespace {

constexpr std::uint64_t training_image_bytes = 16 + 60'000 * 28 * 28;
constexpr std::uint64_t test_image_bytes = 16 + 10'000 * 28 * 28;
constexpr std::uint64_t training_label_bytes = 8 + 60'000;
constexpr std::uint64_t test_label_bytes = 8 + 10'000;
constexpr std::uint64_t cifar10_batch_bytes = 10'000 * (1 + 3 * 32 * 32);

/// Returns the four files of a data set like MNIST, whose checksums are in this order: training
/// images, training labels, test images, test labels.
std::vector<KnownFile> idx_files(const std::vector<std::string>& checksums) {
  using enum Digested;
  return {{"train-images-idx3-ubyte.gz", checksums[0], unpacked, training_image_bytes},
          {"train-labels-idx1-ubyte.gz", checksums[1], unpacked, training_label_bytes},
          {"t10k-images-idx3-ubyte.gz", checksums[2], unpacked, test_image_bytes},
          {"t10k-labels-idx1-ubyte.gz", checksums[3], unpacked, test_label_bytes}};
}

const KnownDataset mnist{
    .name = "mnist",
    .url = "https://ossci-datasets.s3.amazonaws.com/mnist/",
    .files = idx_files({"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"})};

const KnownDataset fashion_mnist{
    .name = "fashion-mnist",
    .url = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    .files = idx_files({"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"})};

const KnownDataset cifar10{
    .name = "cifar10",
    .url = "https://www.cs.toronto.edu/~kriz/",
    .files = {{"cifar-10-binary.tar.gz",
               "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd", Digested::file,
               170'052'171}},
    .members = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                "data_batch_5.bin", "test_batch.bin"},
    .member_bytes = cifar10_batch_bytes};

}  // namespace

const KnownDataset& known_dataset(DatasetName name) {
  switch (name) {
    case DatasetName::mnist:
      return mnist;
    case DatasetName::fashion_mnist:
      return fashion_mnist;
    case DatasetName::cifar10:
      return cifar10;
    default:
      refuse("--download: expected mnist, fashion-mnist or cifar10, got " +
             std::string(to_string(name)));
  }
}

}  // namespace trainer
